import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";
import { currentHost } from "../../host/host.js";

let packed: string | undefined;
let carrier: string | undefined;

/** plotly.js for a page, packed: about 0.65 MB of base64. */
export function packedLibrary(): string {
  if (packed === undefined) {
    const path = createRequire(import.meta.url).resolve("plotly.js-cartesian-dist-min");
    packed = gzipSync(readFileSync(path), { level: 9 }).toString("base64");
  }
  return packed;
}

/** The element that carries the packed library in a page. */
export function libraryHtml(): string {
  return `<script type="text/plain" class="arpo-plotly">${packedLibrary()}</script>`;
}

/**
 * The library for one figure's HTML, or nothing where another figure of the notebook carries it
 * already: the first cell of a session that shows a figure does, each time it runs.
 */
export function carriedLibrary(): string {
  const cell = currentHost()?.cell();
  const name = cell?.cellId ?? "";
  if (cell !== undefined && carrier !== undefined && (name === "" || carrier !== name)) return "";
  carrier = name;
  return libraryHtml();
}

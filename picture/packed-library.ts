import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";

let packed: string | undefined;

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

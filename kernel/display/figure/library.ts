import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";
import { currentHost, type KernelHost } from "../../host/host.js";

let packed: string | undefined;
const carriers = new WeakMap<KernelHost, { cell: string | undefined; run: string }>();

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
 * already: the first cell of a session that shows a figure does, once each time it runs.
 */
export function carriedLibrary(): string {
  const host = currentHost();
  const cell = host?.cell();
  if (host === undefined || cell === undefined) return libraryHtml();
  const carrier = carriers.get(host);
  const again = carrier?.cell !== undefined && carrier.cell === cell.cellId;
  if (carrier !== undefined && (!again || carrier.run === cell.id)) return "";
  carriers.set(host, { cell: cell.cellId, run: cell.id });
  return libraryHtml();
}

import { packedPackage } from "#platform/packed";

let packed: string | undefined;

/** plotly.js for a page, packed: about 0.65 MB of base64. */
export function packedLibrary(): string {
  return (packed ??= packedPackage("plotly.js-cartesian-dist-min"));
}

/** The element that carries the packed library in a page. */
export function libraryHtml(): string {
  return `<script type="text/plain" class="arpo-plotly">${packedLibrary()}</script>`;
}

// What of a cell's outputs a lesson carries, and what of it may differ from run to run.

/** What a page without scripts can show of an output: a page that needs none, a picture, text. */
export function still({ data, ...output }) {
  const { "image/svg+xml": svg, "image/png": png, "text/html": html, ...rest } = data;
  const plain = { "text/plain": rest["text/plain"] ?? [""] };
  const text = Array.isArray(html) ? html.join("") : (html ?? "");
  const moves = /<script|<iframe|<button|<input/.test(text) || text.length > 30_000;
  // A page that cleans HTML takes pictures out of it.
  const isDrawn = svg !== undefined && text.includes("<svg");
  if (html !== undefined && !moves && !isDrawn)
    return { ...output, data: { "text/html": html, ...plain } };
  if (svg !== undefined) return { ...output, data: { "image/svg+xml": svg, ...plain } };
  if (png !== undefined) return { ...output, data: { "image/png": png, ...plain } };
  if (rest["text/markdown"] !== undefined)
    return { ...output, data: { "text/markdown": rest["text/markdown"], ...plain } };
  return { ...output, data: plain };
}

/** Times and machines differ from run to run; nothing else may. */
export const steady = (text) =>
  text
    .replace(/\b\d+(\.\d+)?(?= ?(ms|s|min|minutes|seconds|tok\/s|tokens\/s|MB|GB)\b)/g, "#")
    .replace(/\b\d+:\d\d\b/g, "#")
    .replace(/\b\d+(\.\d+)?\/s\b/g, "#")
    .replace(/(_time(?:<\/td><td[^>]*>|\s+|': )|timing_s\/\w+': | ms: )[\d.e-]+\s*/g, "$1#")
    .replace(/(CPU seconds: |cpu_seconds(?:<\/td><td[^>]*>|': ))[\d.e-]+( → [\d.e-]+)?/g, "$1#")
    // A column is as wide as its longest number.
    .replace(/ {2,}/g, "  ")
    // A board's panel of times, to the end of its picture.
    .replace(/aria-label=\\?"Seconds per step(?:(?!<\/svg>)[^])*<\/svg>/g, "#")
    .replace(/Seconds per step<(?:[^"\\]|\\.)*/g, "#")
    .replace(/id=\\?"[\w-]+\\?"|arpo-[0-9a-f]{6,}/g, "id");

/** The trees that a lesson's pages show, without the times that differ from run to run. */
export const steadyTrees = (text) => text.replace(/"(began|ended|toolMs)":[\d.e-]+/g, '"$1":0');

/** What depends on the machine alone: which engine it has, how long it made a call wait. */
const ofMachine = /^arpo-lab: (tensors on|waiting for the tool)/;

/** What a cell said, as lessons carry it. */
export const carried = (outputs) =>
  outputs.flatMap((output) => {
    if (output.data) return [still(output)];
    if (output.output_type !== "stream") return [output];
    const lines = joined(output.text).split(/(?<=\n)/);
    const text = lines.filter((line) => !ofMachine.test(line));
    return text.length > 0 ? [{ ...output, text }] : [];
  });

const joined = (text) => [text ?? []].flat().join("");

/** What explorers among a cell's outputs carry of their trees; larger trees would make heavy pages. */
export const treesIn = (outputs) =>
  outputs.flatMap(({ data }) => {
    const html = joined(data?.["text/html"]);
    const [, tree] =
      /<div id="explorer-[^>]*>[^]*<script [^>]*data-tree>([^]*?)<\/script>/.exec(html) ?? [];
    if (tree === undefined || tree.length > 120_000) return [];
    return [{ text: joined(data["text/plain"]), tree: JSON.parse(tree) }];
  });

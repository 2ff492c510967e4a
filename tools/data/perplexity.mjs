// node tools/data/perplexity.mjs MODEL [TEXT]: how far each dtype of `loadDecoder` is from float32 on a fixed text (the
// repository's pages, or a file): perplexity, how far ln p of the text's tokens is apart in the mean and at
// most, and how often the most likely token is the same. Prints the rows of docs/models.md's table.
import { readFileSync } from "node:fs";

const [path, file] = process.argv.slice(2);
if (!path) throw new SyntaxError("Cannot measure perplexity: a model must be named");
const { HfTokenizer } = await import("../../dist/src/model/tokenizer/hf-tokenizer.js");
const { loadDecoder } = await import("../../dist/src/model/load/load-decoder.js");

const length = 512; // tokens, each predicted from all before it

const pages = new URL("../../data/corpus/pages.jsonl", import.meta.url);
const text = file
  ? readFileSync(file, "utf8")
  : readFileSync(pages, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).text)
      .join("\n\n");
const tokenizer = await HfTokenizer.load(path);
const ids = tokenizer.encode(text);
if (ids.length < length) {
  throw new RangeError(
    `Cannot measure perplexity: the text must have ${length} tokens, got ${ids.length}`,
  );
}

const one = (value) => Float32Array.of(value);
/** ln p of each token and the most likely in its place. */
async function told(dtype) {
  const { decoder } = await loadDecoder(path, { dtype });
  const row = decoder.open();
  const only = new Uint32Array(Math.ceil(decoder.vocabSize / 32));
  const logprobs = [];
  const topTokens = [];
  for (let i = 0; i + 1 < length; i++) {
    const next = ids[i + 1];
    // The only token allowed is the text's; its log-probability is of the whole distribution.
    only.fill(0)[next >> 5] = 1 << (next & 31);
    const said = decoder.step(Int32Array.of(row), Int32Array.of(ids[i]), Int32Array.of(0, 1), {
      ...{ temperature: one(0), topP: one(1), minP: one(0), repetitionPenalty: one(1) },
      ...{ topK: Int32Array.of(0), uniform: Float64Array.of(0), top: 1, allowed: only },
    });
    logprobs.push(said.logprobs[0]);
    topTokens.push(said.topIds[0]);
  }
  decoder.dispose();
  return { logprobs, topTokens };
}

console.log(`${length - 1} tokens of ${file ?? "data/corpus/pages.jsonl"}`);
let exact;
for (const dtype of ["float32", "bfloat16", "int8", "q4", "w8a8", "w4a8", "w16a16"]) {
  const { logprobs, topTokens } = await told(dtype);
  exact ??= { logprobs, topTokens };
  const mean = (values) => values.reduce((sum, x) => sum + x, 0) / values.length;
  const apart = logprobs.map((x, i) => Math.abs(x - exact.logprobs[i]));
  const same = topTokens.map((id, i) => Number(id === exact.topTokens[i]));
  const cells = [
    dtype,
    Math.exp(-mean(logprobs)).toFixed(3),
    mean(apart).toPrecision(2),
    Math.max(...apart).toPrecision(2),
    `${(100 * mean(same)).toFixed(1)} %`,
  ];
  console.log(`| ${cells.join(" | ")} |`);
}

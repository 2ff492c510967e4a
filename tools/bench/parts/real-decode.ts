// One process of `bench real`: loads the folder named in argv as the dtype named there and prints what that
// took; then, for every line it is given, reads a prompt, decodes so many sequences at once as argv says, and
// prints how fast.
import { createInterface } from "node:readline";
import { loadDecoder } from "../../../src/model/load/load-decoder.js";
import type { DecoderType } from "../../../src/model/decoder/weights.js";
import { ready } from "../../../src/tensor/backends.js";
import { greedyStep } from "./decoded.js";

const [folder, dtype, promptLength, tokens, ...rows] = process.argv.slice(2) as [
  string,
  DecoderType,
  ...string[],
];
const backend = await ready();
let start = performance.now();
const { decoder, config } = await loadDecoder(folder, { dtype });
const load = (performance.now() - start) / 1000;

/** Tokens per second of so many sequences after a prompt each has read, and the prompt's own speed. */
async function decode(count: number) {
  const open = [decoder.open()];
  const prompt = Array.from({ length: Number(promptLength) }, (_, i) => (i * 7919) % 2000);
  start = performance.now();
  let sampled = await greedyStep(decoder, open, [prompt]);
  const prefill = prompt.length / ((performance.now() - start) / 1000);
  // The others have the prompt of the first.
  for (let i = 1; i < count; i++) open.push(decoder.fork(open[0]!));
  const ids = () => Array.from({ length: count }, (_, i) => [sampled.tokens[i] ?? 1 + i]);
  sampled = await greedyStep(decoder, open, ids());
  let fastest = Infinity;
  // The fastest stretch is what a busy machine disturbs least.
  for (let stretch = 0; stretch < 4; stretch++) {
    start = performance.now();
    for (let i = 0; i < Number(tokens) / 4; i++) sampled = await greedyStep(decoder, open, ids());
    fastest = Math.min(fastest, (performance.now() - start) / 1000);
  }
  for (const row of open) decoder.close(row);
  return { prefill, decode: (count * Math.floor(Number(tokens) / 4)) / fastest };
}

const tell = (what: object) => process.stdout.write(`${JSON.stringify(what)}\n`);
tell({ backend, load, config });
for await (const line of createInterface({ input: process.stdin })) {
  let prefill = 0;
  const decoded: Record<string, number> = {};
  for (const count of rows) {
    const found = await decode(Number(count));
    prefill = Math.max(prefill, found.prefill);
    decoded[count] = found.decode;
  }
  tell({ asked: line, prefill, decode: decoded, megabytes: process.memoryUsage.rss() / 2 ** 20 });
}
process.exit(0);

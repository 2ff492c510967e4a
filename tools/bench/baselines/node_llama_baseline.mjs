// Loads a GGUF file with node-llama-cpp, reads a prompt and decodes greedily.
//
//     ARPO_LAB_NODE_LLAMA=FOLDER node node_llama_baseline.mjs FILE.gguf PROMPT_LENGTH TOKENS ROWS...
//
// Prints a JSON line when it is loaded: load (seconds), version; and for every line it is given another:
// prefill (tokens per second) and by number of sequences decode, what all sequences together decode per
// second once each has its first token, megabytes (resident). FOLDER is where `npm install node-llama-cpp`
// was run.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const installed = join(process.env.ARPO_LAB_NODE_LLAMA, "node_modules/node-llama-cpp");
const { version } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
const { getLlama, LlamaLogLevel } = await import(pathToFileURL(join(installed, "dist/index.js")));

const [path, ...numbers] = process.argv.slice(2);
const [promptLength, tokens, ...rows] = numbers.map(Number);
const threads = Number(process.env.ARPO_LAB_THREADS) || availableParallelism();
const most = Math.max(...rows);

const start = performance.now();
const llama = await getLlama({
  gpu: false,
  build: "never",
  maxThreads: threads,
  logLevel: LlamaLogLevel.error,
});
const model = await llama.loadModel({ modelPath: path });
const context = await model.createContext({
  sequences: most,
  contextSize: promptLength + tokens + 64,
  batchSize: 512,
  threads,
});
const load = (performance.now() - start) / 1000;
const sequences = Array.from({ length: most }, () => context.getSequence());

const begin = (sequence, ids) =>
  sequence.evaluate(ids, { temperature: 0, yieldEogToken: true })[Symbol.asyncIterator]();

async function read() {
  const [sequence] = sequences;
  await sequence.clearHistory();
  const row = begin(
    sequence,
    Array.from({ length: promptLength }, (_, i) => (i * 7919) % 2000),
  );
  const began = performance.now();
  await row.next();
  const took = performance.now() - began;
  await row.return();
  return promptLength / (took / 1000);
}

async function decode(count) {
  const open = [];
  for (const [i, sequence] of sequences.slice(0, count).entries()) {
    await sequence.clearHistory();
    // A short prompt each, so that sequences decode side by side for nearly all of the time.
    open.push(begin(sequence, [100 + i, 7, 8]));
  }
  await Promise.all(open.map((row) => row.next()));
  const began = performance.now();
  await Promise.all(
    open.map(async (row) => {
      for (let i = 0; i < tokens; i++) await row.next();
    }),
  );
  const took = performance.now() - began;
  for (const row of open) await row.return();
  return (count * tokens) / (took / 1000);
}

const tell = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);
tell({ load, version });
for await (const asked of createInterface({ input: process.stdin })) {
  const prefill = await read();
  const decoded = {};
  for (const count of rows) decoded[count] = await decode(count);
  tell({ asked, prefill, decode: decoded, megabytes: process.memoryUsage.rss() / 2 ** 20 });
}
process.exit(0);

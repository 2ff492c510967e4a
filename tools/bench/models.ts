// Every architecture at a size that people use: random weights of the published shapes, in Q8_0 as GGUF, beside
// llama.cpp on the same file where ARPO_LAB_PYTHON has xllamacpp: tokens a second, memory, and how far apart
// log-probabilities are with as many as eight layers in float32. `npm run bench -- models gemma3-270m` measures one.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { convertCheckpoint } from "../../src/interop/convert/convert-checkpoint.js";
import { type ModelConfig, modelConfig, type ModelConfigInput } from "../../src/model/config.js";
import { writeModelFolder } from "../../src/model/files/save-model.js";
import { loadDecoder } from "../../src/model/load/load-decoder.js";
import { initialValues } from "../../src/model/transformer/init-weights.js";
import { shapeSize, weightShapes } from "../../src/model/transformer/weights.js";
import { HfTokenizer } from "../../src/model/tokenizer/hf-tokenizer.js";
import { trainBpe } from "../../src/model/tokenizer/train-bpe.js";
import { serveGguf, topThere } from "../../tests/python/llama-cpp-server.js";
import type { Benchmark, Figure } from "./figure.js";
import { compared, type Decoded, decoded, greedyStep } from "./parts/decoded.js";
import { decoding, has, llamaCpp, type Loaded } from "./parts/real-baselines.js";
import { shapes } from "./parts/shapes.js";

const [promptLength, tokens, rows] = [256, 32, [1, 8]];
const settings = [promptLength, tokens, ...rows].map(String);
const mostLayers = 8;

/** Drawn numbers that are repeated in larger weights, a prime: no two rows are alike. */
const period = 1_000_003;

/** Random weights of a shape by name; drawing each number of a billion takes minutes. */
function randomWeights(config: ModelConfig) {
  const shapes = weightShapes(config);
  return (name: string): Promise<Float32Array> => {
    const size = shapeSize(shapes.get(name)!);
    const drawn = initialValues(name, Math.min(size, period), 1, config);
    const values = new Float32Array(size);
    for (let at = 0; at < size; at += period) values.set(drawn.subarray(0, size - at), at);
    return Promise.resolve(values);
  };
}

/** A GGUF file of a shape, the weights drawn anew, with a tokenizer learnt from a few words. */
async function randomGguf(folder: string, shape: ModelConfigInput, dtype: "q8_0" | "float32") {
  const maxDigits = shape.family === "llama" ? 3 : 1;
  const files = trainBpe(["the search for the lowest tower"], { vocabSize: 280, maxDigits });
  const { eosIds } = new HfTokenizer(files);
  const config = modelConfig({
    ...{ contextLength: 32_768, tied: true, initializerRange: 0.04 },
    ...{ ...shape, eosIds: [...eosIds] },
  });
  const base = join(folder, "base");
  mkdirSync(base, { recursive: true });
  const stored = dtype === "float32" ? dtype : "bfloat16";
  await writeModelFolder(base, config, { eosIds: config.eosIds }, randomWeights(config), {
    dtype: stored,
  });
  writeFileSync(join(base, "tokenizer.json"), JSON.stringify(files.tokenizer));
  writeFileSync(join(base, "tokenizer_config.json"), JSON.stringify(files.config));
  const file = join(folder, `${dtype}.gguf`);
  await convertCheckpoint(base, file, { dtype });
  rmSync(base, { recursive: true });
  return file;
}

/** The largest difference of log-probabilities that both give the likeliest tokens after prompts of several lengths. */
async function apart(folder: string, shape: ModelConfigInput): Promise<number> {
  const layers = Math.min(mostLayers, shape.layers);
  const { rotated, windowed } = shape;
  const kinds = {
    ...(rotated && { rotated: rotated.slice(0, layers) }),
    ...(windowed && { windowed: windowed.slice(0, layers) }),
  };
  const file = await randomGguf(folder, { ...shape, ...kinds, layers }, "float32");
  const ends: (() => unknown)[] = [];
  try {
    const address = await serveGguf(
      { after: (end: () => unknown) => void ends.push(end) },
      file,
      1,
    );
    const { decoder } = await loadDecoder(file, { dtype: "float32" });
    let most = 0;
    // The last is longer than a window. llama.cpp's server ended itself at 700 tokens of some models without windows.
    for (const length of [1, 30, windowed ? 700 : 400]) {
      const prompt = Array.from({ length }, (_, i) => (i * 7919 + length) % 250);
      const { topIds, topLogprobs } = await greedyStep(decoder, [decoder.open()], [prompt], 20);
      const ours = new Map([...topIds].map((id, i) => [id, topLogprobs[i]!]));
      const theirs = await topThere(address, prompt, 20);
      const both = [...theirs].filter(([id]) => ours.has(id));
      if (both.length < 10)
        throw new Error(`Cannot compare: ${both.length} of 20 tokens are the same`);
      for (const [id, there] of both) most = Math.max(most, Math.abs(there - ours.get(id)!));
    }
    decoder.dispose();
    return most;
  } finally {
    for (const end of ends) await end();
    rmSync(file);
  }
}

async function* measured(name: string, shape: ModelConfigInput): AsyncIterable<Figure> {
  const folder = mkdtempSync(join(tmpdir(), "arpo-models-"));
  try {
    if (has("xllamacpp"))
      yield { name: `models.${name}.apart`, value: await apart(folder, shape), unit: "nats" };
    const file = await randomGguf(folder, shape, "q8_0");
    const script = fileURLToPath(new URL("parts/real-decode.js", import.meta.url));
    const own = await decoding(process.execPath, [script, file, "w8a8", ...settings]);
    const others = has("xllamacpp") ? [await llamaCpp(file, settings)] : [];
    const [ours, ...found] = await decoded([own, ...others]);
    for (const { process } of [own, ...others]) await process.close();
    const named = found.map((one, i) => ({ ...one, baseline: others[i]!.name }));
    const parts = {
      load_s: (m: Loaded) => m.load,
      prompt_tok_s: (m: Decoded) => m.prefill,
      ...Object.fromEntries(
        rows.map((n) => [`decode_${n}_rows_tok_s`, (m: Decoded) => m.decode[n]!]),
      ),
    };
    yield* compared(`models.${name}`, ours!, named, parts);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const figures: Benchmark = async function* (args) {
  const chosen = Object.keys(shapes).filter((name) => args.includes(name));
  for (const [name, shape] of Object.entries(shapes))
    if (chosen.length === 0 || chosen.includes(name)) yield* measured(name, shape);
};

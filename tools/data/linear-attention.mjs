// What a token costs at the shape of Qwen3.5-0.8B's text, with numbers that mean nothing: CPU time of a decoding step, and
// bytes of a sequence's state.
//
//     node tools/data/linear-attention.mjs [SEQUENCES]
import { engineProducts } from "../../dist/src/model/decoder/engine-products.js";
import { decoderShape } from "../../dist/src/model/decoder/of-model.js";
import { PlainDecoder } from "../../dist/src/model/decoder/plain.js";
import { modelConfig } from "../../dist/src/model/config.js";
import { layerWeights } from "../../dist/src/model/decoder/weight-names.js";
import { weightShapes } from "../../dist/src/model/transformer/weights.js";
import { ready } from "../../dist/src/tensor/backends.js";
import "../../dist/src/tensor/tf.js";

const sequences = Number(process.argv[2] ?? 1);
await ready();
const layers = 24;
const linear = {
  layers: Array.from({ length: layers }, (_, i) => (i + 1) % 4 !== 0),
  ...{ keyHeads: 16, valueHeads: 16, keyDim: 128, valueDim: 128, taps: 4 },
};
const config = modelConfig({
  ...{ family: "qwen3_5", vocabSize: 248_320, hiddenSize: 1024, intermediateSize: 3584, layers },
  ...{ heads: 8, kvHeads: 2, headDim: 256, rotaryDim: 64, contextLength: 4096, linear },
});
// Layers of one kind have the same arrays: the time is that of different ones, which no cache holds either.
const made = new Map();
const numbers = (name) => {
  const size = weightShapes(config)
    .get(name)
    ?.reduce((product, side) => product * side, 1);
  if (size === undefined) return undefined;
  const key = name.replace(/\d+/, "");
  if (!made.has(key)) {
    const values = new Float32Array(size);
    for (let i = 0; i < size; i++) values[i] = (((i * 7919) % 1009) / 504.5 - 1) / 50;
    made.set(key, values);
  }
  return made.get(key);
};
const weights = {
  embedding: numbers("model.embed_tokens.weight"),
  finalNorm: numbers("model.norm.weight"),
  layers: linear.layers.map((_, i) => ({
    ...layerWeights(config, i, { vector: numbers, matrix: numbers }),
  })),
};
const decoder = new PlainDecoder(decoderShape(config), () => weights, "float32", engineProducts());
const rows = Int32Array.from({ length: sequences }, () => decoder.open());
const each = (value) => new Float32Array(sequences).fill(value);
const step = () =>
  decoder.step(
    rows,
    rows,
    Int32Array.from({ length: sequences + 1 }, (_, i) => i),
    {
      ...{ temperature: each(1), topK: new Int32Array(sequences), topP: each(1), minP: each(0) },
      ...{ repetitionPenalty: each(1), uniform: new Float64Array(sequences), top: 0 },
    },
  );
step();
const began = process.cpuUsage();
const from = performance.now();
for (let i = 0; i < 3; i++) step();
const { user, system } = process.cpuUsage(began);
const cpu = (user + system) / 3e3;
console.log(`${sequences} sequences, one token each: ${Math.round(cpu)} ms of CPU time a step`);
console.log(`wall ${Math.round((performance.now() - from) / 3)} ms a step`);
console.log(
  `${(decoder.bytes() / sequences / 1e6).toFixed(1)} MB a sequence, a page of keys and values included`,
);

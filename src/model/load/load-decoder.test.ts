import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { feed } from "../../../tests/model/decoder-suite.js";
import { Random } from "../../base/random/random.js";
import { ready } from "../../tensor/backends.js";
import { compiledEngine } from "../../tensor/engine/compiled-engine.js";
import { tf } from "../../tensor/tf.js";
import { modelConfig, type ModelConfigInput } from "../config.js";
import { decoderShape, decoderWeights } from "../decoder/of-model.js";
import { PlainDecoder } from "../decoder/plain.js";
import type { DecoderType, DecoderWeights } from "../decoder/weights.js";
import type { Decoder, Sampled } from "../decoder/decoder.js";
import { packHalf, unpackHalf, type WeightType } from "../files/half.js";
import { loadDecoder } from "./load-decoder.js";
import { saveModel } from "../files/save-model.js";
import { Model } from "../transformer/transformer.js";
import { writeSafetensors } from "../files/write-safetensors.js";

const folder = await mkdtemp(join(tmpdir(), "arpo-decoder-"));
after(() => rm(folder, { recursive: true }));
await ready();
const own = tf.getBackend();
const backends = ["cpu", "native", "wasm"].filter((name) => tf.findBackendFactory(name));

const variants: Record<string, ModelConfigInput> = {
  "qwen2, tied": {
    ...{ vocabSize: 131, hiddenSize: 72, intermediateSize: 200, layers: 2, heads: 4, kvHeads: 2 },
    ...{ qkvBias: true, tied: true, initializerRange: 0.2, contextLength: 64 },
  },
  "qwen3, untied": {
    ...{ vocabSize: 97, hiddenSize: 48, intermediateSize: 110, layers: 2, heads: 3, kvHeads: 1 },
    ...{ family: "qwen3", qkvBias: false, qkNorm: true, tied: false, headDim: 16 },
    ...{ initializerRange: 0.2, contextLength: 64 },
  },
  smollm3: {
    ...{ vocabSize: 97, hiddenSize: 48, intermediateSize: 110, layers: 4, heads: 3, kvHeads: 1 },
    ...{ family: "smollm3", rotated: [true, true, true, false], mlpBias: true, outputBias: true },
    ...{ qkvBias: true, initializerRange: 0.2, contextLength: 64 },
  },
  gemma3: {
    ...{ vocabSize: 97, hiddenSize: 48, intermediateSize: 110, layers: 3, heads: 3, kvHeads: 1 },
    ...{ family: "gemma3", headDim: 16, window: 7, windowed: [true, true, false] },
    ...{ windowRopeTheta: 1e4, initializerRange: 0.2, contextLength: 64 },
  },
};
const random = Random.from(3);
const lines = [1, 2, 17, 30].map((count) =>
  Array.from({ length: count }, () => random.integer(90)),
);

/** Log-probabilities of every id after each line and after one token more. */
function scores(decoder: Decoder, rows = lines): number[][] {
  const open = rows.map(() => decoder.open());
  const first = feed(decoder, rows.map((tokens, i) => [open[i]!, tokens] as const)); // prettier-ignore
  const second = feed(decoder, open.map((row) => [row, [5]] as const)); // prettier-ignore
  for (const row of open) decoder.close(row);
  const byId = (sampled: Sampled, row: number) => {
    const all = new Array<number>(decoder.vocabSize);
    for (let i = row * all.length; i < (row + 1) * all.length; i++)
      all[sampled.topIds[i]!] = sampled.topLogprobs[i]!;
    return all;
  };
  return [first, second].flatMap((sampled) => rows.map((_, row) => byId(sampled, row)));
}

function furthest(a: number[][], b: number[][]): number {
  return Math.max(...a.flatMap((row, i) => row.map((x, j) => Math.abs(x - b[i]![j]!))));
}

function spread(rows: number[][]): number {
  return Math.max(...rows.map((row) => Math.max(...row) - Math.min(...row)));
}

/** A matrix as the decoder is to keep it, worked out here once more. */
function rounded(matrix: Float32Array, inputs: number, dtype: DecoderType): Float32Array {
  const out = new Float32Array(matrix.length);
  if (dtype === "float32") return matrix;
  if (dtype === "bfloat16") {
    unpackHalf(packHalf(matrix, "bfloat16"), "bfloat16", out);
    return out;
  }
  for (let row = 0; row < matrix.length; row += inputs) {
    const values = matrix.subarray(row, row + inputs);
    const top = values.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    const scale = Math.fround(top / 127);
    for (const [i, x] of values.entries()) {
      const steps = Math.fround(Math.fround(Math.abs(x) * 127) / top);
      out[row + i] = Math.sign(x) * Math.floor(steps + 0.5) * scale;
    }
  }
  return out;
}

function roundedWeights(model: Model, dtype: DecoderType): DecoderWeights {
  const weights = decoderWeights(model);
  const { hiddenSize: d, intermediateSize: ff, heads, headDim } = model.config;
  return {
    embedding: weights.embedding,
    finalNorm: weights.finalNorm,
    head: rounded(weights.head ?? weights.embedding, d, dtype),
    layers: weights.layers.map((layer) => ({
      ...layer,
      query: rounded(layer.query, d, dtype),
      key: rounded(layer.key, d, dtype),
      value: rounded(layer.value, d, dtype),
      output: rounded(layer.output, heads * headDim, dtype),
      gate: rounded(layer.gate, d, dtype),
      up: rounded(layer.up, d, dtype),
      down: rounded(layer.down, ff, dtype),
    })),
  };
}

for (const backend of backends) {
  for (const [name, input] of Object.entries(variants)) {
    test(`loadDecoder() on ${backend} decodes with the weights each dtype stands for (${name})`, async () => {
      await tf.setBackend(backend);
      const model = Model.init(modelConfig(input), 11);
      const shape = decoderShape(model.config);
      for (const file of ["float32", "bfloat16"] as const satisfies readonly WeightType[]) {
        await saveModel(model, folder, { dtype: file });
        // What the file holds, to start from.
        const held = Model.init(modelConfig(input), 11);
        if (file === "bfloat16") {
          for (const weight of held.weights.values()) {
            const values = weight.dataSync() as Float32Array;
            const out = new Float32Array(values.length);
            unpackHalf(packHalf(values, "bfloat16"), "bfloat16", out);
            tf.tidy(() => weight.assign(tf.tensor(out, weight.shape, "float32")));
          }
        }
        const exact = scores(new PlainDecoder(shape, () => decoderWeights(held)));
        for (const dtype of ["float32", "bfloat16", "int8"] as const) {
          const kept = roundedWeights(held, backend === "cpu" ? "float32" : dtype);
          const expected = scores(new PlainDecoder(shape, () => kept));
          const { decoder } = await loadDecoder(folder, { dtype });
          const got = scores(decoder);
          assert.ok(furthest(got, expected) < 2e-4, `${file} ${dtype}: ${furthest(got, expected)}`);
          // Of random weights, which are large; as shares of what log-probabilities spread over.
          const bound = { float32: 1e-5, bfloat16: 0.015, int8: 0.04 }[dtype];
          const share = furthest(got, exact) / spread(exact);
          assert.ok(share < bound, `${file} ${dtype}: ${share}`);
          const alone = lines.map((line) => scores(decoder, [line]));
          assert.deepEqual(alone.flatMap(([first]) => [first]), got.slice(0, lines.length)); // prettier-ignore
          assert.deepEqual(alone.flatMap(([, second]) => [second]), got.slice(lines.length)); // prettier-ignore
          decoder.dispose();
          const unmapped = await loadDecoder(folder, { dtype, map: false });
          assert.deepEqual(scores(unmapped.decoder), got);
          unmapped.decoder.dispose();
        }
        held.dispose();
      }
      model.dispose();
      await tf.setBackend(own);
    });
  }
}

test("loadDecoder() refuses what it cannot decode with", async () => {
  const model = Model.init(modelConfig(variants["qwen2, tied"]!), 1);
  await saveModel(model, folder);
  await assert.rejects(
    loadDecoder(folder, { dtype: "int4" as DecoderType }),
    /Cannot load a model: dtype must be one of float32, bfloat16, int8, q4, w8a8, w4a8, w16a16, got "int4"/,
  );
  const sources = [...model.weights].map(([name, weight]) => ({
    name,
    shape: weight.shape,
    values: () => {
      const values = Float32Array.from(weight.dataSync());
      if (name.endsWith("layers.1.self_attn.k_proj.weight")) values[72 * 3 + 5] = NaN;
      return values;
    },
  }));
  await writeSafetensors(join(folder, "model.safetensors"), sources, { dtype: "float32" });
  for (const dtype of ["float32", "bfloat16", "int8"] as const) {
    await assert.rejects(
      loadDecoder(folder, { dtype }),
      /Cannot load a model: weights must be finite, got .*(k_proj|layers\[1\]\.key, row 3)/,
    );
  }
  await writeSafetensors(join(folder, "model.safetensors"), sources.slice(1), { dtype: "float32" });
  await assert.rejects(
    loadDecoder(folder, { dtype: "int8" }),
    /model.embed_tokens.weight must have/,
  );
  model.dispose();
});

test("loadDecoder() gives the arrays that matrices were widened into back at once", async (t) => {
  await tf.setBackend(own);
  const engine = compiledEngine();
  if (!engine) return t.skip("no compiled engine");
  const model = Model.init(modelConfig(variants["qwen2, tied"]!), 1);
  await saveModel(model, folder, { dtype: "bfloat16" });
  model.dispose();
  const load = t.mock.method(engine.call, "decoder_load_ends");
  const { decoder } = await loadDecoder(folder);
  decoder.dispose();
  assert.deepEqual(
    load.mock.calls.map(({ arguments: [, , head] }) => head!.length),
    [0],
  );
});

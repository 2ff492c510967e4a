import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { tf } from "../../tensor/tf.js";
import { decoderShape, decoderWeights } from "./of-model.js";
import { PlainDecoder } from "./plain.js";
import { Model } from "../transformer/transformer.js";
import { loadModel } from "../load/load-model.js";

for (const name of ["qwen2", "qwen3-bf16-sharded", "llama-f16"]) {
  test(`decoderWeights() makes a decoder that agrees with the transformer: ${name}`, async () => {
    const folder = `tests/fixtures/models/${name}`;
    const { ids } = JSON.parse(await readFile(`${folder}/expected.json`, "utf8")) as {
      ids: number[][];
    };
    const model = await loadModel(folder);
    const decoder = new PlainDecoder(decoderShape(model.config), () => decoderWeights(model));
    const prompt = ids[0]!;
    const sampled = decoder.step(
      Int32Array.of(decoder.open()),
      Int32Array.from(prompt),
      Int32Array.of(0, prompt.length),
      {
        temperature: Float32Array.of(1),
        topK: Int32Array.of(1),
        topP: Float32Array.of(1),
        minP: Float32Array.of(0),
        repetitionPenalty: Float32Array.of(1),
        uniform: Float64Array.of(0.5),
        top: 5,
      },
    );
    const batch = model.batch([prompt]);
    const labels = tf.fill([1, prompt.length], sampled.tokens[0]!, "int32") as tf.Tensor2D;
    const { logprobs, entropies } = model.logProbs(batch, labels);
    assert.ok(Math.abs(logprobs.dataSync().at(-1)! - sampled.logprobs[0]!) < 1e-4);
    assert.ok(Math.abs(entropies.dataSync().at(-1)! - sampled.entropies[0]!) < 1e-4);
    const last = model.logits(model.forward(batch)).dataSync().slice(-model.config.vocabSize);
    assert.equal(sampled.tokens[0], last.indexOf(Math.max(...last)));
    model.dispose();
  });
}

test("decoderWeights() refuses a critic", async () => {
  const critic = await loadModel("tests/fixtures/models/qwen2-value");
  assert.throws(() => decoderWeights(critic), /Cannot decode: .* got "value"/);
  critic.dispose();
});

test("weights that were fetched from a GPU serve until the model changes", () => {
  const sizes = {
    vocabSize: 9,
    hiddenSize: 8,
    intermediateSize: 8,
    layers: 1,
    heads: 2,
    kvHeads: 2,
  };
  const model = Model.init(sizes, 1);
  const fetched = new Map<string, Float32Array>(
    [...model.weights].map(([name, { size }]) => [name, new Float32Array(size).fill(7)]),
  );
  model.keepFetched(model.version, fetched);
  assert.equal(decoderWeights(model).embedding[0], 7);
  model.changed();
  assert.notEqual(decoderWeights(model).embedding[0], 7);
  model.keepFetched(model.version - 1, fetched);
  assert.notEqual(decoderWeights(model).embedding[0], 7, "what came too late is dropped");
});

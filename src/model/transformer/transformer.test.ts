import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { gradientsOf } from "../../tensor/gradients.js";
import { tf } from "../../tensor/tf.js";
import { loadModel } from "../load/load-model.js";
import { SafetensorsFile } from "../files/safetensors-file.js";
import { Model } from "./transformer.js";

const fixtures = "tests/fixtures/models"; // made by tools/fixtures/make_models.py
const sizes = {
  vocabSize: 40,
  hiddenSize: 16,
  intermediateSize: 24,
  layers: 3,
  heads: 4,
  kvHeads: 2,
  contextLength: 32,
  initializerRange: 0.3,
};

function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  assert.equal(a.length, b.length);
  let largest = 0;
  for (let i = 0; i < a.length; i++) largest = Math.max(largest, Math.abs(a[i]! - b[i]!));
  return largest;
}

for (const name of ["qwen2", "qwen3-bf16-sharded", "llama-f16", "qwen2-value"]) {
  test(`Model gives what transformers gives for ${name}`, async () => {
    const { ids } = JSON.parse(await readFile(`${fixtures}/${name}/expected.json`, "utf8")) as {
      ids: number[][];
    };
    const file = await SafetensorsFile.open(`${fixtures}/${name}/expected.safetensors`);
    const expected = await file.read("logits");
    await file.close();
    const model = await loadModel(`${fixtures}/${name}`);
    const batch = model.batch(ids);
    const actual =
      model.config.head === "value" ? model.values(batch) : model.logits(model.forward(batch));
    assert.ok(expected.some((x) => Math.abs(x) > 1)); // 1e-4 means something
    assert.ok(largestDifference(actual.dataSync(), expected) < 1e-4);
    model.dispose();
  });
}

test("Model.forward() gives a row the same whatever is padded to it or beside it", () => {
  for (const family of ["qwen2", "qwen3"] as const) {
    const model = Model.init({ ...sizes, family }, 3);
    const rows = [
      [5, 6, 7],
      [1, 2, 3, 4, 9, 8, 7],
    ];
    const alone = model.forward(model.batch([rows[0]!])).dataSync();
    const together = model.forward(model.batch(rows)).dataSync();
    assert.ok(largestDifference(together.subarray(0, alone.length), alone) < 1e-6);
    model.dispose();
  }
});

test("Model.logProbs() gives the log-softmax of the logits and its entropy", () => {
  const model = Model.init({ ...sizes, tied: false }, 1);
  const batch = model.batch([[1, 2, 3, 4]]);
  const labels = tf.tensor2d([[2, 3, 4, 5]], [1, 4], "int32");
  const { logprobs, entropies } = model.logProbs(batch, labels, { temperature: 0.7 });
  const logSoftmax = tf
    .logSoftmax(model.logits(model.forward(batch)).div(0.7))
    .arraySync() as number[][][];
  for (let t = 0; t < 4; t++) {
    const row = logSoftmax[0]![t]!;
    const entropy = -row.reduce((sum, l) => sum + Math.exp(l) * l, 0);
    assert.ok(Math.abs(logprobs.arraySync()[0]![t]! - row[t + 2]!) < 1e-5);
    assert.ok(Math.abs(entropies.arraySync()[0]![t]! - entropy) < 1e-5);
  }
  model.dispose();
});

for (const family of ["qwen2", "qwen3"] as const) {
  test(`Model of ${family}: checkpointing gives the same gradients and holds less memory`, () => {
    const model = Model.init({ ...sizes, family, layers: 6 }, 2);
    const batch = model.batch([Array.from({ length: 30 }, (_, i) => i), [1, 2, 3]]);
    const labels = tf.ones([2, 30], "int32") as tf.Tensor2D;
    const measure = (checkpointing: boolean) => {
      let held = 0;
      const before = tf.memory().numBytes;
      const { value, gradients } = gradientsOf(() => {
        const { logprobs, entropies } = model.logProbs(batch, labels, { checkpointing });
        const loss = logprobs.neg().sub(entropies.mul(0.1)).mean().asScalar();
        held = tf.memory().numBytes - before;
        return loss;
      }, model.weights);
      return { value: value.dataSync()[0]!, gradients, held };
    };
    const whole = measure(false);
    const saving = measure(true);
    assert.equal(whole.value, saving.value);
    assert.deepEqual(Object.keys(whole.gradients), [...model.weights.keys()]);
    for (const [name, gradient] of Object.entries(whole.gradients)) {
      const again = saving.gradients[name]!.dataSync();
      const scale = Math.max(...gradient.dataSync().map(Math.abs));
      assert.ok(scale > 0, `${name} has a gradient`);
      assert.ok(largestDifference(again, gradient.dataSync()) <= 1e-5 * scale, name);
    }
    assert.ok(saving.held < whole.held / 2, `${saving.held} of ${whole.held} bytes`);
    model.dispose();
  });
}

test("Model gradients agree with finite differences", () => {
  const model = Model.init({ ...sizes, layers: 2, family: "qwen3", tied: false }, 5);
  const batch = model.batch([[3, 1, 4, 1, 5, 9, 2, 6]]);
  const labels = tf.tensor2d([[1, 4, 1, 5, 9, 2, 6, 5]], [1, 8], "int32");
  const loss = () => model.logProbs(batch, labels).logprobs.mean().neg().asScalar();
  const { gradients } = gradientsOf(loss, model.weights);
  for (const name of ["model.embed_tokens.weight", "model.layers.0.self_attn.k_norm.weight"]) {
    const weight = model.weights.get(name)!;
    const start = weight.dataSync().slice();
    // Along the gradient itself, where the slope is largest and single precision suffices.
    const direction = gradients[name]!.dataSync();
    const norm = Math.hypot(...direction);
    const at = (step: number) => {
      weight.assign(
        tf.tensor(
          start.map((x, i) => x + (step * direction[i]!) / norm),
          weight.shape,
        ),
      );
      return loss().dataSync()[0]!;
    };
    const slope = (at(0.02) - at(-0.02)) / 0.04;
    assert.ok(Math.abs(slope - norm) < 0.02 * norm, `${name}: ${slope} against ${norm}`);
    weight.assign(tf.tensor(start, weight.shape));
  }
  model.dispose();
});

test("Model.init() depends on the seed and on nothing else", () => {
  const values = (seed: number, layers: number) => {
    const model = Model.init({ ...sizes, layers }, seed);
    const data = model.weights.get("model.layers.0.mlp.up_proj.weight")!.dataSync().slice();
    model.dispose();
    return data;
  };
  assert.deepEqual(values(1, 1), values(1, 3));
  assert.notDeepEqual(values(1, 1), values(2, 1));
  const model = Model.init({ ...sizes, vocabSize: 4000, initializerRange: 0.02 }, 9);
  const table = model.weights.get("model.embed_tokens.weight")!.dataSync() as Float32Array;
  const square = table.reduce((sum, x) => sum + x * x, 0) / table.length;
  const mean = table.reduce((sum, x) => sum + x, 0) / table.length;
  assert.ok(Math.abs(Math.sqrt(square) / 0.02 - 1) < 0.02 && Math.abs(mean) < 0.0005);
  model.dispose();
});

test("Model.dispose() leaves nothing behind, also after gradients with checkpointing", () => {
  const before = tf.memory().numTensors;
  const model = Model.init(sizes, 1);
  tf.tidy(() => {
    const batch = model.batch([[1, 2, 3]]);
    gradientsOf(
      () => model.forward(batch, { checkpointing: true }).square().mean().asScalar(),
      model.weights,
    );
  });
  model.dispose();
  assert.equal(tf.memory().numTensors, before);
});

test("Model refuses ids, sequences and calls that cannot be meant", () => {
  const model = Model.init(sizes, 1);
  assert.throws(
    () => model.batch([[1, 40]]),
    /id must be below 40, got 40 \(sequence 0, position 1\)/,
  );
  assert.throws(() => model.batch([[1], [-1]]), /got -1 \(sequence 1, position 0\)/);
  assert.throws(() => model.batch([[0.5]]), /got 0.5/);
  assert.throws(() => model.batch([[1], []]), /a token in every sequence/);
  assert.throws(() => model.batch([]), /a token in every sequence/);
  assert.throws(() => model.batch([new Int32Array(33)]), /context of 32 tokens, got 33/);
  assert.throws(
    () => model.forward({ ids: tf.zeros([1, 33], "int32") }),
    /context of 32 .* got 33/,
  );
  const batch = model.batch([[1, 2]]);
  assert.throws(() => model.logProbs(batch, tf.zeros([1, 3], "int32")), /got \[1,3\]/);
  assert.throws(() => model.values(batch), /head "value"/);
  const critic = Model.init({ ...sizes, head: "value" }, 1);
  assert.throws(() => critic.logits(critic.forward(batch)), /head "logits"/);
  assert.equal(critic.values(batch).shape.join(), "1,2");
});

test("Model.changed() moves the version", () => {
  const model = Model.init(sizes, 1);
  assert.equal(model.version, 0);
  model.changed();
  assert.equal(model.version, 1);
  model.dispose();
});

test("Model.copy() shares nothing with its source, and copyFrom() follows it", () => {
  const model = Model.init(sizes, 1);
  const copy = model.copy();
  const name = "model.layers.2.mlp.down_proj.weight";
  const data = (of: Model) => of.weights.get(name)!.dataSync();
  const before = data(model).slice();
  data(model).fill(7); // as an optimiser that works in place does
  assert.deepEqual(data(copy), before);
  copy.copyFrom(model);
  assert.equal(copy.version, 1);
  assert.deepEqual(data(copy), data(model));
  const other = Model.init({ ...sizes, hiddenSize: 32 }, 1);
  assert.throws(() => copy.copyFrom(other), /embed_tokens.weight must have shape .* got \[40,32\]/);
  for (const made of [model, copy, other]) made.dispose();
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../../src/model/transformer/transformer.js";
import { gradientsOf } from "../../src/tensor/gradients.js";
import { compiledEngine } from "../../src/tensor/engine/compiled-engine.js";
import { measureMachine } from "../../src/tensor/profile/machine.js";
import { profile } from "../../src/tensor/profile/profile.js";
import { tf } from "../../src/tensor/tf.js";

const backends = ["native", "wasm"].filter((name) => tf.findBackendFactory(name));
const shape = { vocabSize: 96, hiddenSize: 32, intermediateSize: 64, layers: 2, heads: 4 };
const [batch, time] = [3, 20];

/** The loss and gradients of a small model, as training takes them. */
function pass(model: Model): number[] {
  const rows = Array.from({ length: batch }, (_, r) =>
    Array.from({ length: time }, (_, t) => (r * 7 + t * 5) % shape.vocabSize),
  );
  const tokens = model.batch(rows);
  const labels = tf.tensor2d(rows, [batch, time], "int32");
  const { value, gradients } = gradientsOf(
    () => model.logProbs(tokens, labels).logprobs.mean().neg().asScalar(),
    model.weights,
  );
  const found = [...value.dataSync(), ...gradients["lm_head.weight"]!.dataSync()];
  tf.dispose([value, gradients, labels, tokens.ids]);
  return found;
}

for (const backend of backends) {
  test(`a profile on ${backend} counts what a training step must multiply, and changes nothing`, async () => {
    await tf.setBackend(backend);
    const model = Model.init({ ...shape, tied: false }, 3);
    const before = pass(model);
    let within: number[] = [];
    const report = await profile(() => (within = pass(model)), { runs: 2 });
    assert.deepEqual(within, before);
    assert.deepEqual(pass(model), before, "the recording was not taken away");

    const { hiddenSize: d, intermediateSize: f, vocabSize, layers } = shape;
    const rows = batch * time;
    const matrices = layers * (4 * d * d + 3 * d * f) + d * vocabSize;
    const attended = layers * batch * d * ((time * (time + 1)) / 2);
    const wanted = 6 * rows * matrices + 12 * attended;
    const counted = report.operations.reduce((sum, one) => sum + one.gigaOperations, 0) * 1e9;
    assert.ok(Math.abs(counted / wanted - 1) < 1e-9, `${counted} is not ${wanted}`);

    const of = (name: string) => report.operations.find(({ operation }) => operation === name);
    assert.equal(of("CausalAttentionGrad")!.calls, layers);
    assert.equal(of("LinearGrad")!.calls, 4 * layers);
    assert.ok(of("LinearGrad")!.ofLimit! > 0);
    const shares = report.operations.reduce((sum, one) => sum + one.share, 0);
    assert.ok(shares > 0.9, `${shares} of the time is accounted for`);
    assert.ok(report.productMilliseconds > 0);
    assert.match(`${report}`, new RegExp(`^[\\d.]+ ms of wall time on ${backend}; limits: `));
    model.dispose();
  });

  test(`this machine's limits on ${backend} are above what its products reach`, async () => {
    await tf.setBackend(backend);
    const limits = measureMachine({ seconds: 0.1 });
    const { call } = compiledEngine()!;
    const side = 384;
    const [a, b, c] = [1, 1, 0].map((x) => new Float32Array(side * side).fill(x));
    const engine = compiledEngine()!;
    const [left, right, out] = [a!, b!, c!].map((values) => engine.upload(values));
    let fastest = Infinity;
    for (let i = 0; i < 30; i++) {
      const start = performance.now();
      // prettier-ignore
      call.matmul(
        left!, side, false, 0, right!, side, true, 0, out!, side, 0, 1, side, side, side, 1, false,
      );
      fastest = Math.min(fastest, performance.now() - start);
    }
    const reached = (2 * side ** 3) / (fastest / 1000);
    // Both are the best of many tries, of which other programs may have disturbed every one.
    assert.ok(limits.products > reached / 2, `${limits.products} beside ${reached}`);
    const { integerProducts, bfloat16Products, bandwidth } = limits;
    for (const limit of [integerProducts, bfloat16Products, bandwidth])
      assert.ok(limit > 0 && Number.isFinite(limit), JSON.stringify(limits));
    assert.equal(limits.threads, call.threads());
    assert.equal(measureMachine({ seconds: 0.01, threads: 1 }).threads, 1);
    assert.equal(limits.threads, call.threads());
    for (const floats of [left!, right!, out!]) engine.release(floats);
  });
}

test("a profile in plain JavaScript has times and no limits", async () => {
  await tf.setBackend("cpu");
  const x = tf.ones([8, 8]);
  const report = await profile(() => x.matMul(x).dispose(), { runs: 1 });
  assert.equal(report.limits, undefined);
  assert.ok(report.operations.some(({ operation }) => operation === "BatchMatMul"));
  assert.throws(() => measureMachine(), /must be a compiled engine, got plain JavaScript/);
  x.dispose();
});

test("an operation that throws is no longer recorded afterwards", async () => {
  await tf.setBackend(backends[0]!);
  const before = tf.engine().runKernel;
  await assert.rejects(
    profile(() => tf.ones([2, 3]).matMul(tf.ones([2, 3]))),
    /inner sizes must be equal/,
  );
  assert.equal(tf.engine().runKernel, before);
});

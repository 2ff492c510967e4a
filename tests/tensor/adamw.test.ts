import assert from "node:assert/strict";
import { test } from "node:test";
import { AdamW } from "../../src/tensor/adamw.js";
import { tf } from "../../src/tensor/tf.js";
import { topKFromHidden } from "../../src/tensor/ops/top-k-from-hidden.js";

const backends = ["cpu", "native", "wasm"].filter((name) => tf.findBackendFactory(name));
const options = { learningRate: 0.03, weightDecay: 0.1, maxNorm: 1.5 };

/** PyTorch's AdamW with clip_grad_norm_, in plain numbers. */
function reference(start: number[], slopes: number[][]): number[] {
  const w = [...start];
  const m = w.map(() => 0);
  const v = w.map(() => 0);
  slopes.forEach((slope, t) => {
    const norm = Math.hypot(...slope);
    const scale = Math.min(1, options.maxNorm / (norm + 1e-6));
    for (let i = 0; i < w.length; i++) {
      const g = slope[i]! * scale;
      m[i] = 0.9 * m[i]! + 0.1 * g;
      v[i] = 0.999 * v[i]! + 0.001 * g * g;
      const step = m[i]! / (1 - 0.9 ** (t + 1));
      const size = Math.sqrt(v[i]! / (1 - 0.999 ** (t + 1))) + 1e-8;
      w[i] = w[i]! * (1 - 0.03 * 0.1) - (0.03 * step) / size;
    }
  });
  return w;
}

for (const backend of backends) {
  test(`AdamW on ${backend} moves as PyTorch's does, and continues from its state`, async () => {
    await tf.setBackend(backend);
    const size = 37;
    const start = Array.from({ length: size }, (_, i) => Math.sin(i));
    const slopes = [1, 2, 3, 4].map((t) =>
      Array.from({ length: size }, (_, i) => Math.cos(t * i + t)),
    );
    const source = Float32Array.from(start);
    const initial = tf.tensor1d(source);
    const w = tf.variable(initial);
    const shadow = w.clone();
    let optimizer = new AdamW(new Map([["w", w]]), options);
    for (const [t, slope] of slopes.entries()) {
      if (t === 2) {
        const state = await optimizer.state();
        optimizer.dispose();
        optimizer = new AdamW(new Map([["w", w]]), options);
        optimizer.restore(state);
      }
      const gradient = tf.tensor1d(slope);
      const report = await optimizer.step({ w: gradient });
      assert.ok(Math.abs(report.norm - Math.hypot(...slope)) < 1e-5);
      assert.equal(report.skipped, false);
      gradient.dispose();
    }
    const wanted = reference(start, slopes);
    [...w.dataSync()].forEach((x, i) => assert.ok(Math.abs(x - wanted[i]!) < 2e-6, `${i}: ${x}`));
    assert.deepEqual([...shadow.dataSync()], [...Float32Array.from(start)], "a clone was changed");
    assert.deepEqual(source, Float32Array.from(start), "the array it was made from was changed");

    const before = [...w.dataSync()];
    const bad = tf.tensor1d(start.map((x, i) => (i === 5 ? NaN : x)));
    const report = await optimizer.step({ w: bad });
    assert.ok(report.skipped && Number.isNaN(report.norm));
    assert.deepEqual([...w.dataSync()], before);
    assert.equal(optimizer.steps, 4);
    tf.dispose([bad, w, shadow, initial]);
    optimizer.dispose();
  });

  test(`topKFromHidden on ${backend} gives log-probabilities in falling order`, async () => {
    await tf.setBackend(backend);
    tf.tidy(() => {
      const hidden = tf.tensor2d([[1, 0.5], [0, 0]]); // prettier-ignore
      const head = tf.tensor2d([[0, 0], [2, 0], [0, 1], [-1, 0], [1, 1]]); // prettier-ignore
      const { logprobs, ids } = topKFromHidden(hidden, head, 3, 0.5);
      assert.deepEqual([...ids.dataSync()], [1, 4, 2, 0, 1, 2]);
      const logits = [0, 2, 0.5, -1, 1.5].map((z) => z / 0.5);
      const sum = Math.log(logits.reduce((s, z) => s + Math.exp(z), 0));
      const wanted = [4 - sum, 3 - sum, 1 - sum, ...Array(3).fill(-Math.log(5))];
      [...logprobs.dataSync()].forEach((x, i) => assert.ok(Math.abs(x - wanted[i]!) < 1e-6));
    });
  });

  test(`embed on ${backend} refuses ids out of range, by name`, async () => {
    await tf.setBackend(backend);
    const { embed } = await import("../../src/tensor/ops/embed.js");
    const table = tf.ones([3, 2]);
    assert.throws(() => embed(table, tf.tensor1d([0, 3], "int32")), /3/);
    assert.throws(() => embed(table, tf.tensor1d([-1], "int32")), /-1/);
  });
}

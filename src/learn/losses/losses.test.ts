import assert from "node:assert/strict";
import { test } from "node:test";
import { tf } from "../../tensor/tf.js";
import { aggregateLoss } from "./base/aggregate.js";
import { actorLoss, losses, valueLoss } from "./losses.js";
import type { PolicyLossOptions } from "./registry.js";

type Tensor = InstanceType<typeof tf.Tensor>;

/** d(loss)/d(logp) of one token whose ratio is r, as the spec's table states it: -A F. */
function slope(advantage: number, r: number, options: PolicyLossOptions): number {
  const fixed = {
    oldLogprobs: tf.zeros([1, 1]),
    advantages: tf.fill([1, 1], advantage),
    mask: tf.ones([1, 1]),
  };
  const loss = (logprobs: Tensor) => losses.vanilla({ ...fixed, logprobs }, options).loss;
  return tf
    .grad(loss)(tf.fill([1, 1], Math.log(r)))
    .dataSync()[0]!;
}

test("losses.vanilla() has the gradient factors of the spec's table, for PPO and AEPO", () => {
  const table: [advantage: number, ratio: number, ppo: number, aepo: number][] = [
    [1, 1.5, 0, 1.2],
    [1, 1.1, 1.1, 1.1],
    [1, 0.5, 0.5, 0.5],
    [-1, 0.5, 0, 0],
    [-1, 0.9, 0.9, 0.9],
    [-1, 2.5, 2.5, 2.5],
    [-1, 3.5, 0, 0],
  ];
  for (const [advantage, ratio, ppo, aepo] of table) {
    const close = (actual: number, factor: number) =>
      assert.ok(
        Math.abs(actual + advantage * factor) < 1e-5,
        `A ${advantage}, r ${ratio}: ${actual}`,
      );
    close(slope(advantage, ratio, {}), ppo);
    close(slope(advantage, ratio, { entropyBalancedClipping: true }), aepo);
  }
});

test("losses.vanilla() weighs advantages by entropy and stays finite with one valid token", () => {
  const input = {
    logprobs: tf.zeros([1, 2]),
    oldLogprobs: tf.zeros([1, 2]),
    advantages: tf.ones([1, 2]),
    entropies: tf.tensor2d([[0.5, 9]]),
    mask: tf.tensor2d([[1, 0]]),
  };
  const on = { entropyBalancedAdvantage: true };
  assert.ok(Math.abs(losses.vanilla(input, on).loss.dataSync()[0]! + 1) < 1e-6);
  assert.ok(Number.isNaN(losses.vanilla(input, { ...on, referenceNaN: true }).loss.dataSync()[0]));
});

test("losses.vanilla() and aggregateLoss() name what is wrong with their options", () => {
  const row = tf.ones([1, 1]);
  const input = { logprobs: row, oldLogprobs: row, advantages: row, mask: row };
  assert.throws(
    () => losses.vanilla(input, { clipRatioC: 1 }),
    /clipRatioC must be a number above 1, got 1/,
  );
  assert.throws(
    () => losses.vanilla(input, { clipRatio: -0.1 }),
    /clipRatio must be a finite number of at least 0, got -0.1/,
  );
  assert.throws(
    () => aggregateLoss(row, row, "mean" as "token-mean"),
    /the mode must be one of token-mean, .* got mean/,
  );
  assert.throws(() => actorLoss(input, { entropyCoefficient: 1 }), /entropies must be given/);
  assert.throws(() => actorLoss(input, { klLossCoefficient: 0 }), /refLogprobs must be given/);
});

test("aggregateLoss() lets an empty sequence contribute 0", () => {
  const losses = tf.tensor2d([
    [2, 4],
    [5, 5],
  ]);
  const mask = tf.tensor2d([
    [1, 1],
    [0, 0],
  ]);
  assert.equal(aggregateLoss(losses, mask, "seq-mean-token-mean").dataSync()[0], 1.5);
});

test("losses.gspo() agrees with a loop over sequences, values and finite differences", () => {
  const logp = [
    [-0.1, -0.9, -0.4],
    [-1.2, -0.3, -2],
  ];
  const old = [
    [-0.3, -0.8, -0.5],
    [-0.7, -0.6, -1],
  ];
  const mask = [
    [1, 1, 0],
    [1, 1, 1],
  ];
  const advantage = [0.7, -1.3];
  // One ratio per sequence; each sequence's loss is its token mean, all tokens alike.
  const brute = (rows: number[][]) =>
    rows.reduce((sum, row, i) => {
      const n = mask[i]!.reduce((a, b) => a + b);
      const log = row.reduce((a, v, t) => a + (v - old[i]![t]!) * mask[i]![t]!, 0) / n;
      const r = Math.exp(log);
      const clipped = Math.min(1.2, Math.max(0.8, r));
      return sum + Math.max(-r * advantage[i]!, -clipped * advantage[i]!);
    }, 0) / rows.length;
  const input = {
    oldLogprobs: tf.tensor2d(old),
    mask: tf.tensor2d(mask),
    advantages: tf.tensor2d(advantage.map((a) => [a, a, a])),
  };
  const loss = (logprobs: Tensor) => losses.gspo({ ...input, logprobs }).loss;
  assert.ok(Math.abs(loss(tf.tensor2d(logp)).dataSync()[0]! - brute(logp)) < 1e-6);
  const slopes = tf.grad(loss)(tf.tensor2d(logp)).arraySync() as number[][];
  logp.forEach((row, i) => {
    row.forEach((_, t) => {
      const moved = (h: number) =>
        brute(logp.map((r, j) => r.map((v, s) => (i === j && s === t ? v + h : v))));
      const numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5;
      assert.ok(Math.abs(slopes[i]![t]! - numeric) < 1e-5, `${i},${t}`);
    });
  });
});

test("losses.vanilla() leaves no tensor behind but what it returns", () => {
  const row = tf.ones([1, 2]);
  const before = tf.memory().numTensors;
  const loss = tf.tidy(
    () =>
      losses.vanilla(
        { logprobs: row, oldLogprobs: row, advantages: row, mask: row, entropies: row },
        { entropyBalancedAdvantage: true, entropyBalancedClipping: true },
      ).loss,
  );
  loss.dispose();
  assert.equal(tf.memory().numTensors, before);
  assert.deepEqual([...row.dataSync()], [1, 1]);
});

test("losses.vanilla() leaves the advantages alone where no token is valid", () => {
  const row = tf.tensor2d([[0.3, 0.7]]);
  const input = { logprobs: row, oldLogprobs: row, advantages: row, entropies: row };
  const options = { entropyBalancedAdvantage: true, referenceNaN: true };
  const mask = tf.zeros([1, 2]);
  assert.equal(losses.vanilla({ ...input, mask }, options).loss.dataSync()[0], 0);
});

test("an empty sequence's NaN stays off the candidates that the loss did not take", () => {
  const input = {
    oldLogprobs: tf.zeros([2, 2]),
    advantages: tf.tensor2d([
      [1, 1],
      [-1, -1],
    ]),
    mask: tf.tensor2d([
      [1, 1],
      [0, 0],
    ]),
  };
  const loss = (logprobs: Tensor) =>
    losses.vanilla(
      { ...input, logprobs },
      { aggregation: "seq-mean-token-mean", referenceNaN: true },
    ).loss;
  const logprobs = tf.tensor2d([
    [0, 1],
    [0, 5],
  ]);
  // The token beyond the dual clip has a constant loss: slope 0, though its sequence's mean is 0 / 0.
  const slopes = [...tf.grad(loss)(logprobs).dataSync()];
  assert.ok(Number.isNaN(loss(logprobs).dataSync()[0]));
  assert.ok(Math.abs(slopes[0]! + 0.25) < 1e-6);
  assert.deepEqual(
    slopes.slice(1).map((x) => x + 0),
    [0, NaN, 0],
  );
});

test("valueLoss() shares the gradient where a prediction lies on the edge of its clip range", () => {
  const row = (x: number) => tf.fill([1, 1], x);
  const slope = (prediction: number) =>
    tf
      .grad(
        (predictions: Tensor) =>
          valueLoss({ predictions, values: row(0), returns: row(2), mask: row(1) }).loss,
      )(row(prediction))
      .dataSync()[0]!;
  assert.ok(Math.abs(slope(0.25) + 3.5) < 1e-6);
  // Both candidates are the same number; half goes to the clipped one, and half of that comes back.
  assert.ok(Math.abs(slope(0.5) + 3 * 0.75) < 1e-6);
});

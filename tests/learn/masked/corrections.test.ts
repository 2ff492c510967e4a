import assert from "node:assert/strict";
import { test } from "node:test";
import { mismatchMetrics } from "../../../src/learn/correction/figures.js";
import { rejectionMask, rejectionTests } from "../../../src/learn/correction/rejection.js";
import {
  bypassWeights,
  type CorrectionSettings,
} from "../../../src/learn/correction/rollout-correction.js";
import { correctionWeights } from "../../../src/learn/correction/weights.js";
import { maskedMean, maskedVariance, whiten } from "../../../src/learn/masked.js";
import { tf } from "../../../src/tensor/tf.js";
import { bytes, filled, fillers, shapes } from "./fillers.js";

const seeds = [1, 2, 3];
const levels = ["token", "sequence"] as const;

test("weights, rejections and figures of a correction do not see masked tokens", () => {
  for (const seed of seeds) {
    const { mask, normal } = shapes(seed);
    const [logprobs, sampled] = [normal(), normal()];
    const logRatio = logprobs.map((row, i) => row.map((p, t) => p - sampled[i]![t]!));
    const ways: ((r: typeof logRatio) => unknown)[] = [
      ...levels.flatMap((weights) =>
        [2, "0.5_2"].flatMap((threshold) =>
          [true, false].map(
            (normalize) => (r: typeof logRatio) =>
              correctionWeights({ logRatio: r, mask }, { weights, threshold, normalize }),
          ),
        ),
      ),
      ...rejectionTests.map(
        (reject) => (r: typeof logRatio) =>
          rejectionMask({ logRatio: r, mask }, { reject, rejectThreshold: 1.5 }),
      ),
    ];
    for (const by of fillers) {
      for (const way of ways) assert.deepEqual(way(filled(logRatio, mask, by)), way(logRatio));
      assert.deepEqual(
        mismatchMetrics({
          ...{ logprobs: filled(logprobs, mask, by), mask },
          sampledLogprobs: filled(sampled, mask, by),
        }),
        mismatchMetrics({ logprobs, sampledLogprobs: sampled, mask }),
      );
    }
  }
});

test("weights of a correction that bypasses measuring do not see masked tokens", () => {
  const ways: CorrectionSettings[] = [
    ...levels.flatMap((weights) =>
      [2, "0.5_2"].map((threshold) => ({
        weights,
        threshold,
        outside: undefined,
        rejection: undefined,
      })),
    ),
  ].map((way) => ({ ...way, normalize: true, bypass: "reinforce" }));
  for (const seed of seeds) {
    const { mask, normal } = shapes(seed);
    const [now, sampled] = [normal(), normal()];
    for (const way of ways) {
      const told = (a: typeof now, b: typeof now) =>
        tf.tidy(() =>
          bytes(bypassWeights(tf.tensor2d(a), tf.tensor2d(b), tf.tensor2d(mask), way)!.dataSync()),
        );
      for (const by of fillers) {
        const [a, b] = [filled(now, mask, by), filled(sampled, mask, by)];
        assert.equal(told(a, b), told(now, sampled), JSON.stringify(way));
      }
    }
  }
});

test("means and variances over a mask do not see masked tokens", () => {
  for (const seed of seeds) {
    const { mask, normal } = shapes(seed);
    const values = normal();
    const kept = (rows: readonly Float64Array[]) =>
      rows.map((row, i) => bytes(row.filter((_, t) => mask[i]![t])));
    for (const by of fillers) {
      const other = filled(values, mask, by);
      assert.equal(maskedMean(other, mask), maskedMean(values, mask));
      assert.equal(maskedVariance(other, mask), maskedVariance(values, mask));
      assert.deepEqual(kept(whiten(other, mask)), kept(whiten(values, mask)));
    }
  }
});

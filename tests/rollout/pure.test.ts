import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../src/base/random/random.js";
import { decideBranch } from "../../src/rollout/rules/decide-branch.js";
import { branchRules } from "../../src/rollout/rules/registry.js";
import { ConsecutivePenalty } from "../../src/rollout/branch/consecutive-penalty.js";
import { dynamicBudget } from "../../src/rollout/branch/dynamic-budget.js";
import { EntropyBaselines } from "../../src/rollout/branch/entropy-baselines.js";
import { lossMask, responseAttention } from "../../src/rollout/tree/trajectory.js";
import { segmentEntropy } from "../../src/rollout/branch/segment-entropy.js";
import { toolContent } from "../../src/base/text/call-input.js";

/** A segment of `length` equal positions: `width` tokens at probability p, the sampled one outside. */
function segment(length: number, width: number, p: number, sampled: number) {
  const l = Math.log(p);
  return {
    tokens: new Int32Array(length).fill(99),
    logprobs: new Float32Array(length).fill(Math.log(sampled)),
    entropies: Float32Array.from({ length }, (_, i) => i),
    top: {
      width,
      ids: Int32Array.from({ length: length * width }, (_, i) => i % width),
      logprobs: new Float32Array(length * width).fill(l),
    },
  };
}

const close = (actual: number, wanted: number) =>
  assert.ok(Math.abs(actual - wanted) < 1e-5, `${actual} is not ${wanted}`);

test("segmentEntropy() sums the first positions and adds the sampled token outside the top", () => {
  const one = -(4 * 0.1 * Math.log(0.1) + 0.05 * Math.log(0.05));
  const s = segment(30, 4, 0.1, 0.05);
  close(segmentEntropy(s, 100), (20 * one) / Math.log(100));
  close(segmentEntropy(s, 100, { positions: 3, normalizer: "none" }), 3 * one);
  close(segmentEntropy(s, 100, { positions: 3, normalizer: "vocab" }), (3 * one) / 100);
});

test("segmentEntropy() takes only topK alternatives", () => {
  const one = -(2 * 0.1 * Math.log(0.1) + 0.05 * Math.log(0.05));
  close(segmentEntropy(segment(1, 4, 0.1, 0.05), 9, { topK: 2, normalizer: "none" }), one);
});

test("segmentEntropy() averages full entropies when asked", () => {
  const s = segment(5, 1, 0.5, 0.5);
  assert.equal(segmentEntropy(s, 10, { measure: "mean", normalizer: "none" }), 2);
  assert.equal(segmentEntropy(s, 10, { measure: "mean", normalizer: "none", positions: 3 }), 1);
});

test("segmentEntropy() of an empty segment or a certain token is 0", () => {
  assert.equal(segmentEntropy(segment(0, 4, 0.1, 0.1), 10), 0);
  const certain = segment(2, 2, 1, 1);
  certain.top.logprobs.fill(-Infinity);
  certain.logprobs.fill(0);
  assert.equal(Math.abs(segmentEntropy(certain, 10)), 0);
});

test("decideBranch() branches as often as it says it will", () => {
  const random = Random.from(3);
  for (const rule of branchRules) {
    for (let i = 0; i < 40; i++) {
      const settings = {
        rule,
        probability: random.uniform(),
        weight: random.uniform() * 2,
        threshold: random.uniform(),
        penaltySlope: 0.05,
      };
      const rest = {
        entropy: random.uniform() * 2,
        baseline: random.uniform() * 2,
        consecutive: random.integer(24),
      };
      const steps = 400;
      let branched = 0;
      let chance = 0;
      for (let k = 0; k < steps; k++) {
        const verdict = decideBranch(settings, { u: (k + 0.5) / steps, ...rest });
        branched += verdict.branch ? 1 : 0;
        chance = verdict.probability;
      }
      assert.ok(Math.abs(branched / steps - chance) < 2 / steps, `${rule}: ${branched} ${chance}`);
    }
  }
});

test("decideBranch() always branches at p = 1 in arpo-code and at p = 0 in aepo-code", () => {
  const rest = { weight: 3, threshold: 0.5, penaltySlope: 0.05 };
  const low = { u: 0.999, entropy: 0, baseline: 9, consecutive: 0 };
  assert.equal(decideBranch({ rule: "arpo-code", probability: 1, ...rest }, low).branch, true);
  assert.equal(decideBranch({ rule: "aepo-code", probability: 0, ...rest }, low).branch, true);
  assert.equal(decideBranch({ rule: "arpo-code", probability: 0, ...rest }, low).branch, false);
});

test("EntropyBaselines keeps the first entropy of a trajectory until cleared", () => {
  const baselines = new EntropyBaselines();
  assert.equal(baselines.of(4, 0.5), 0.5);
  assert.equal(baselines.of(4, 7), 0.5);
  baselines.clear();
  assert.equal(baselines.of(4, 7), 7);
  assert.deepEqual([...baselines.entries()], [[4, 7]]);
});

test("ConsecutivePenalty leaves the counts alone when no trajectory was added", () => {
  const penalty = new ConsecutivePenalty(2);
  penalty.endRound(new Set([0, 1]));
  penalty.endRound(new Set([0]));
  penalty.endRound(new Set());
  assert.deepEqual([penalty.count(0), penalty.count(1)], [2, 0]);
});

test("dynamicBudget() stays within 1 and n", () => {
  assert.equal(dynamicBudget(8, 60, [0]).initialRollouts, 8);
  assert.equal(dynamicBudget(8, 0, [80]).initialRollouts, 1);
  assert.equal(dynamicBudget(8, 0, [80], { formula: "paper" }).initialRollouts, 1);
  assert.equal(dynamicBudget(16, 1, [0], { beta: 2 }).initialRollouts, 15);
});

test("toolContent() trims as Python does", () => {
  assert.equal(toolContent("<a>\u001c\u0085 x \u3000\ufeff</a>", "a"), "x \u3000\ufeff");
  assert.equal(toolContent("</a><a>", "a"), "");
});

test("responseAttention() ends at the first of several end tokens or at the last real one", () => {
  assert.deepEqual([...responseAttention([4, 3, 2, 0], [2, 3])], [1, 1, 0, 0]);
  assert.deepEqual([...responseAttention([4, 4, 0, 0], [2, 3], 2)], [1, 1, 0, 0]);
  assert.deepEqual([...responseAttention([], [2])], []);
  assert.deepEqual([...lossMask([1, 0], [1, 1, 1])], [1, 0, 0]);
});

test("responseAttention() ends at the model's own end token, not at one in a result", () => {
  const written = [1, 0, 0, 1, 1];
  assert.deepEqual([...responseAttention([5, 2, 6, 7, 2], [2], 5, written)], [1, 1, 1, 1, 1]);
  assert.deepEqual([...responseAttention([2, 2, 6, 7, 2], [2], 5, written)], [1, 0, 0, 0, 0]);
  // Padding is nobody's: where it is attended, the first one still ends.
  assert.deepEqual([...responseAttention([5, 2, 2], [2], 3, [1])], [1, 1, 0]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  advantages,
  type AdvantageOptions,
  creditOf,
  estimators,
} from "../../../src/learn/advantages.js";
import { definePlainEstimator } from "../../../src/learn/estimators/definition.js";
import { estimatorsByName } from "../../../src/learn/estimators/registry.js";
import { score } from "../../../src/reward/score-trees.js";
import { Scored } from "../../../src/reward/scored.js";
import { rolloutPresets } from "../../../src/rollout/presets.js";
import { rollout } from "../../../src/rollout/rollout.js";
import { randomTextPolicy } from "../../../src/rollout/testing/random-text-policy.js";
import type { Trajectory } from "../../../src/rollout/tree/trajectory.js";
import { calculator } from "../../../src/tools/calculator/calculator.js";
import type { Tool } from "../../../src/tools/tool.js";
import { ToolSet } from "../../../src/tools/tool-set.js";
import { bytes, fill, filled, fillers, shapes } from "./fillers.js";

/** One that adds up all it is given: what is masked is kept from it by the door alone. */
estimatorsByName.add(
  definePlainEstimator({
    name: "knows_no_mask",
    meaning: "the sum of all rewards and values",
    formula: "the sum",
    needs: "values",
    byToken: true,
    advantages: () => undefined,
    estimate({ rewards, values }) {
      const sum = (row: ArrayLike<number>) => Array.from(row).reduce((a, b) => a + b, 0);
      const all = rewards.map((row, i) =>
        Float64Array.from(row, () => sum(row) + sum(values![i]!)),
      );
      return { advantages: all, returns: all };
    },
  }),
);

const paid: Tool = {
  ...calculator(),
  execute: (input) => ({ text: input, ok: true, reward: input.startsWith("1") ? 1 : 0.25 }),
};

/** Trees with tool results in most of their trajectories; `flat` ones do not branch, as fr3e needs it. */
async function scoredTrees({ flat = false } = {}): Promise<Scored> {
  const tasks = [0, 1].map((i) => ({ prompt: `q${i}`, id: `task ${i}` }));
  const trees = await rollout(randomTextPolicy(), tasks, {
    ...rolloutPresets.arpo,
    ...(flat ? { n: 6, initialRollouts: 6 } : { n: 16, initialRollouts: 3, beamSize: 4 }),
    ...{ seed: 4, tools: new ToolSet([paid], { callLimit: 5 }) },
  });
  return score(trees, ({ length }) => {
    const parts = { thirds: length % 3, halves: length % 2 };
    return { score: (length % 3) / 2, reason: "", parts };
  });
}

/** The same trees with a number in place of all that is said of tokens which the model did not write. */
function withFilled(scored: Scored, by: number): Scored {
  const copy = structuredClone(scored.trajectories.map(({ trajectory }) => trajectory));
  copy.forEach(({ logprobs, entropies, lossMask }) => {
    fill(logprobs, lossMask, by);
    fill(entropies, lossMask, by);
  });
  scored.trajectories.forEach(({ trajectory }, i) => {
    const { logprobs, entropies } = copy[i]!;
    trajectory.logprobs.set(logprobs);
    trajectory.entropies.set(entropies);
  });
  for (const { nodes } of scored.trees) {
    for (const { kind, logprobs, entropies } of nodes) {
      if (kind === "model") continue;
      logprobs.fill(by);
      entropies.fill(by);
    }
  }
  return scored;
}

/** Sequences with what an update would have measured, and at masked tokens what the sampler's numbers are. */
const measured = ({ trajectories }: Scored) =>
  trajectories.map(({ trajectory, group, score: { score: reward } }) => {
    const { lossMask, logprobs, entropies } = trajectory;
    // An end token that the rules put was not sampled, and is measured.
    const oldLogprobs = logprobs.map((p, t) => (lossMask[t] && Number.isNaN(p) ? -1 : p));
    const squares = oldLogprobs.map((p) => Math.exp(p) / 2);
    return { trajectory, group, reward, entropies, oldLogprobs, squares };
  });

for (const name of estimatorsByName.names) {
  test(`${name}: what stands at a masked token changes no bit of advantages and returns`, async () => {
    const definition = estimatorsByName.get(name)!;
    const plain = "estimate" in definition ? definition : undefined;
    const trees = () => scoredTrees({ flat: name === "fr3e" });
    const scored = await trees();
    const masks = scored.trajectories.map(({ trajectory: { lossMask } }) => [...lossMask]);
    const some = (of: (i: number, t: number) => number) =>
      masks.map((mask, i) => mask.map((_, t) => of(i, t)));
    const values = some((i, t) => Math.sin(i + 7 * t));
    // One reward of each trajectory on a token that the model wrote, as a score stands.
    const tokenRewards = some((i, t) => Number(t === masks[i]!.lastIndexOf(1)) * (i % 3));
    const baselines = masks.map((_, i) => (i % 2) / 4);
    const told = (from: Scored, options: AdvantageOptions) =>
      advantages(from, {
        ...{ estimator: definition, values, tokenRewards, baselines, gamma: 0.9, lambda: 0.8 },
        ...(plain?.needs === "distributions" ? { rows: measured(from) } : {}),
        ...options,
      }).trajectories.map(({ advantages: own, returns }) => [bytes(own), bytes(returns)]);
    const expected = told(scored, {});
    for (const by of fillers) {
      const other = { values: values.map((row, i) => filled([row], [masks[i]!], by)[0]!) };
      const rewards = {
        tokenRewards: tokenRewards.map((row, i) => filled([row], [masks[i]!], by)[0]!),
      };
      const from = withFilled(await trees(), by);
      if (plain?.countsMasked) {
        if (by === 1e30) assert.notDeepEqual(told(from, other), expected);
        else
          assert.throws(() => told(from, other), /values must be finite, got .* at token \d+ of/);
        continue;
      }
      assert.deepEqual(told(from, other), expected, String(by));
      if (plain?.byToken) {
        assert.deepEqual(told(from, { ...other, ...rewards }), expected, String(by));
      } else if (!Number.isFinite(by)) {
        // The trajectory's score is the sum of its rewards, which must be one.
        assert.throws(() => told(from, rewards), /rewards must be finite, got/);
      }
    }
    if (!("spans" in definition) && !definition.credit) return;
    const credit = (from: Scored) =>
      creditOf(from, { estimator: definition, tokenRewards }).advantages.map((row) => bytes(row));
    const sums = credit(scored);
    for (const by of fillers) assert.deepEqual(credit(withFilled(await trees(), by)), sums);
  });
}

test("estimators of numbers do not see masked tokens, and refuse what counts and is not finite", () => {
  for (const seed of [1, 2]) {
    const { mask, normal } = shapes(seed);
    const [rewards, values] = [normal(), normal()];
    const expected = estimators.gae({ rewards, values, mask }, { gamma: 0.9, lambda: 0.9 });
    for (const by of fillers) {
      const given = { rewards: filled(rewards, mask, by), values: filled(values, mask, by), mask };
      assert.deepEqual(estimators.gae(given, { gamma: 0.9, lambda: 0.9 }), expected);
      const bad = values.map((row) => [...row]);
      bad[0]![1] = NaN;
      assert.throws(
        () => estimators.gae({ rewards, values: bad, mask }),
        /^RangeError: Cannot estimate advantages: values must be finite, got NaN at token 1 of trajectory 0$/,
      );
    }
  }
});

test("gae passes over a tool's result, and its older form counts it", () => {
  const input = {
    rewards: [[0, 0, 0, 1]],
    values: [[0.5, 9, 9, 0.25]],
    mask: [[1, 0, 0, 1]],
  };
  const how = { gamma: 0.5, lambda: 1 };
  // What was written before the result is one step from what was written after it.
  assert.equal(estimators.gae(input, how).returns[0]![0], 0.5);
  assert.equal(estimators.gae_older(input, how).returns[0]![0], 0.125);
});

test("a score stands on a token that the model wrote, where rewards count by token", () => {
  // Cut off in a result, which nothing is trained on.
  const trajectory = {
    ...{ tree: 0, id: 0, end: "length", tokens: Int32Array.of(5, 6, 7, 8) },
    ...{ attention: Uint8Array.of(1, 1, 1, 1), lossMask: Uint8Array.of(1, 1, 0, 0) },
  } as Partial<Trajectory> as Trajectory;
  const scored = new Scored([{ trajectory, group: "q", score: { score: 0.75, reason: "" } }], []);
  const values = [[0, 0, 0, 0]];
  for (const estimator of ["reinforce_plus_plus", "gae"] as const) {
    const { trajectories } = advantages(scored, { estimator, values });
    assert.deepEqual([...trajectories[0]!.returns].slice(0, 2), [0.75, 0.75], estimator);
  }
});

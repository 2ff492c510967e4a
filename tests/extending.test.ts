import assert from "node:assert/strict";
import { test } from "node:test";
import {
  count,
  creditOf,
  defineEstimator,
  defineRule,
  estimatorsByName,
  figure,
  rules,
  wholeTrajectory,
} from "../src/api/experimental/family.js";
import { advantages, type AdvantageOptions } from "../src/learn/advantages.js";
import { score } from "../src/reward/score-trees.js";
import { rollout } from "../src/rollout/rollout.js";
import type { RolloutOptions } from "../src/rollout/options.js";
import { randomTextPolicy } from "../src/rollout/testing/random-text-policy.js";
import { branchingView } from "../src/view/branching/branching-view.js";

// A method of one's own, in one file: where it branches, and what it gives to tokens.

/** Every first trajectory is left in its middle. */
const halves = defineRule({
  name: "halves",
  title: "Halves",
  words: "in the middle of every first trajectory",
  settings: { times: count(2, "how often each is left") },
  usual: { n: 6, initialRollouts: 2 },
  choose: ({ times }, chains) =>
    chains.flatMap(({ id, length }) =>
      Array.from({ length: times }, () => ({
        ...{ trajectory: id, at: Math.floor(length / 2), score: 0 },
      })),
    ),
  why: ({ times }) => `the middle, ${times} times`,
});

/** A branch gets what it won on the trajectory that it left. */
const gain = defineEstimator()({
  name: "gain",
  meaning: "against the trajectory that was left",
  formula: "score - score of the trajectory that was left",
  settings: { factor: figure(1, "what a gain counts") },
  besides: {},
  spans: ({ trajectories, mask }, { factor = 1 }) =>
    trajectories.map(({ reward, parent, tree }, i) => {
      const left = trajectories.find(
        (one) => one.tree === tree && one.scored.trajectory.id === parent,
      );
      const terms = [
        { name: "reward", value: reward },
        { name: "reward of what it left", value: -(left?.reward ?? reward) },
      ];
      return wholeTrajectory(mask, i, {
        terms,
        factors: factor === 1 ? [] : [{ name: "factor", value: factor }],
      });
    }),
});

test("a rule and an estimator of one's own are given as they are", async () => {
  const grown = await rollout(randomTextPolicy(), { prompt: "6*7?" }, { rule: halves, seed: 1 });
  assert.deepEqual([grown.config.rule, grown.config.expand], ["halves", { times: 2 }]);
  assert.deepEqual(
    grown.trajectories.map(({ kind }) => kind),
    ["initial", "initial", "branch", "branch", "branch", "branch"],
  );
  // The choice can be asked again, of the definition: a tree keeps its name alone.
  const replay = grown.replay({ rule: halves });
  assert.equal(replay.branches, 4);
  assert.equal(replay.unseen, 0);
  assert.throws(() => grown.replay({}), /rule halves must be given as the definition/);
  assert.match(String(grown), /halves/);

  const scored = await score(grown, ({ length }) => length);
  const credit = creditOf(scored, { estimator: gain });
  const { terms } = credit.explain(2, 0)!;
  assert.deepEqual(
    terms.map(({ name }) => name),
    ["reward", "reward of what it left"],
  );
  const batch = advantages(scored, { estimator: gain });
  assert.deepEqual([...batch.trajectories[2]!.advantages], [...credit.advantages[2]!]);
});

test("settings of a rule of one's own are checked as the others' are", async () => {
  const wrong = { rule: halves, expand: { times: 0 } as object };
  await assert.rejects(
    rollout(randomTextPolicy(), { prompt: "6*7?" }, wrong),
    /expand.times must be an integer of at least 1, got 0/,
  );
});

test("options of an estimator of one's own stand under its name", async () => {
  const grown = await rollout(randomTextPolicy(), { prompt: "6*7?" }, { rule: halves, seed: 1 });
  const scored = await score(grown, ({ length }) => length);
  const plain = creditOf(scored, { estimator: gain }).advantages;
  const doubled: object = { estimator: gain, gain: { factor: 2 } };
  assert.deepEqual(
    creditOf(scored, doubled).advantages.map((row) => [...row]),
    plain.map((row) => [...row].map((value) => 2 * value)),
  );
  const wrong: object = { estimator: gain, gain: { factor: "2" } };
  assert.throws(() => advantages(scored, wrong), /gain.factor must be a finite number, got "2"/);
  assert.throws(() => advantages(scored, { gain: {} } as object), /every option must be known/);
});

test("what is added is known by its name: to options, suggestions, replays and views", async () => {
  rules.add({ ...halves, name: "thirds" } as typeof halves & { name: "thirds" });
  estimatorsByName.add({ ...gain, name: "my_gain" });
  const named = { rule: "thirds", expand: { times: 1 }, seed: 1 } as unknown as RolloutOptions;
  const grown = await rollout(randomTextPolicy(), { prompt: "6*7?" }, named);
  assert.deepEqual([grown.config.rule, grown.config.expand], ["thirds", { times: 1 }]);
  assert.equal(grown.replay({}).branches, 2);
  const view = branchingView(grown, { rules: ["thirds" as "appo"] });
  assert.match(view.summary, /\nthirds: 2 branches/);
  await assert.rejects(
    rollout(randomTextPolicy(), { prompt: "?" }, { rule: "thrids" as "appo" }),
    /did you mean "thirds"\?/,
  );
  const scored = await score(grown, ({ length }) => length);
  const told = { estimator: "my_gain", myGain: { factor: 3 } } as unknown as AdvantageOptions;
  assert.equal(advantages(scored, told).estimator, "my_gain");
  assert.throws(
    () => advantages(scored, { estimator: "my_gan" as "grpo" }),
    /did you mean "my_gain"\?/,
  );
});

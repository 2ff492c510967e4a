import assert from "node:assert/strict";
import { test } from "node:test";
import { count } from "../common/options/setting.js";
import { advantages, creditOf } from "../src/learn/advantages.js";
import { wholeTrajectory } from "../src/learn/estimators/credit.js";
import { defineEstimator } from "../src/learn/estimators/definition.js";
import { score } from "../src/reward/score-trees.js";
import { rollout } from "../src/rollout/rollout.js";
import { defineRule } from "../src/rollout/rules/definition.js";
import { randomTextPolicy } from "../src/rollout/testing/random-text-policy.js";

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
  settings: {},
  besides: {},
  spans: ({ trajectories, mask }) =>
    trajectories.map(({ reward, parent, tree }, i) => {
      const left = trajectories.find(
        (one) => one.tree === tree && one.scored.trajectory.id === parent,
      );
      const terms = [
        { name: "reward", value: reward },
        { name: "reward of what it left", value: -(left?.reward ?? reward) },
      ];
      return wholeTrajectory(mask, i, { terms, factors: [] });
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

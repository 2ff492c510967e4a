import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../base/random/random.js";
import { total } from "./credit.js";
import { type TurnBaselineOptions, turnBaseline } from "./turn-baseline.js";

const kinds = ["padded", "leave-one-out", "turn-index"] as const;
type Kind = TurnBaselineOptions["baseline"];

/** Rewards of 1 at every turn, for as many turns as a coin says. */
function geometric(trajectories: number, seed: number): number[][] {
  const random = Random.from(seed);
  return Array.from({ length: trajectories }, () => {
    const turns = [1];
    while (random.uniform() < 0.6) turns.push(1);
    return turns;
  });
}

test("with 1 for every turn the turn-index baseline sees no difference, the padded one the lengths", () => {
  const rewards = geometric(12, 7);
  const groups = rewards.map(() => "q");
  const lengths = rewards.map((turns) => turns.length);
  const mean = lengths.reduce((a, b) => a + b, 0) / lengths.length;
  assert.ok(new Set(lengths).size > 2);
  const biased = turnBaseline(rewards, groups, { baseline: "turn-index" });
  const padded = turnBaseline(rewards, groups);
  rewards.forEach((_, trajectory) => {
    assert.ok(biased[trajectory]!.every((sum) => total(sum) === 0));
    assert.ok(Math.abs(total(padded[trajectory]![0]!) - (lengths[trajectory]! - mean)) < 1e-12);
  });
});

test("padded is the difference to the prompt's mean return from every turn on", () => {
  const rewards = [[1, 0.5], [0.25], [2, 0, 4], [3]];
  const groups = ["a", "a", "a", "b"];
  const to = (trajectory: number, turn: number) =>
    rewards[trajectory]!.slice(turn).reduce((a, b) => a + b, 0);
  const found = turnBaseline(rewards, groups);
  rewards.forEach((turns, trajectory) => {
    const trajectories = [0, 1, 2, 3].filter((other) => groups[other] === groups[trajectory]);
    turns.forEach((_, turn) => {
      const mean =
        trajectories.reduce((sum, other) => sum + to(other, turn), 0) / trajectories.length;
      assert.ok(Math.abs(total(found[trajectory]![turn]!) - (to(trajectory, turn) - mean)) < 1e-12);
    });
  });
});

/**
 * A policy of one number: at each of at most three turns it goes on with probability p. Every group of
 * two trajectories there can be is met with its probability, so that expectations are sums.
 */
const p = 0.6;
const ends = [1 - p, p * (1 - p), p * p];
const turnReward = [1, 0.5, 2];
const rewardsOf = (turns: number) => turnReward.slice(0, turns);

/** The derivative of ln p(what was done) at a turn by the logit: going on, or stopping. */
const slope = (turns: number, turn: number) => (turn === 2 ? 0 : turn + 1 < turns ? 1 - p : -p);

/** The expected gradient of a trajectory under a baseline, by enumeration. */
function expectedGradient(baseline: Kind): number {
  let sum = 0;
  for (let a = 1; a <= 3; a++) {
    for (let b = 1; b <= 3; b++) {
      const credit = turnBaseline([rewardsOf(a), rewardsOf(b)], [0, 0], { baseline });
      const gradient = credit[0]!.reduce((all, c, turn) => all + total(c) * slope(a, turn), 0);
      sum += ends[a - 1]! * ends[b - 1]! * gradient;
    }
  }
  return sum;
}

test("leave-one-out has the true gradient, padded half of it in a group of two, turn-index another one", () => {
  // The derivative of the expected reward by the logit.
  const value = (q: number) => turnReward[0]! + q * turnReward[1]! + q * q * turnReward[2]!;
  const h = 1e-6;
  const truth = ((value(p + h) - value(p - h)) / (2 * h)) * p * (1 - p);
  const found = Object.fromEntries(kinds.map((kind) => [kind, expectedGradient(kind)]));
  assert.ok(Math.abs(found["leave-one-out"]! - truth) < 1e-8);
  // A mean that includes the trajectory itself shrinks what it says by (G - 1) / G, and turns nothing around.
  assert.ok(Math.abs(found["padded"]! - truth / 2) < 1e-8);
  assert.ok(Math.abs(found["turn-index"]! - truth) > 0.1 && found["turn-index"]! < truth / 2);
});

test("trajectories that share a turn's tokens are no baseline of each other under leave-one-out", () => {
  const rewards = [[1], [0], [0.5]];
  const shared = (trajectory: number, other: number) => trajectory < 2 && other < 2;
  const [first] = turnBaseline(rewards, [0, 0, 0], { baseline: "leave-one-out", shared });
  assert.equal(total(first![0]!), 0.5);
  const [alone] = turnBaseline([[1]], [0], { baseline: "leave-one-out" });
  assert.equal(total(alone![0]!), 1);
});

test("an unknown baseline is named with those there are", () => {
  assert.throws(
    () => turnBaseline([[1]], [0], { baseline: "mean" as Kind }),
    /must be one of padded, leave-one-out, turn-index, got "mean"/,
  );
});

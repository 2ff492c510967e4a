import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../base/random/random.js";
import { calculator } from "../tools/calculator/calculator.js";
import { ToolSet } from "../tools/tool-set.js";
import { branchRules } from "./rules/registry.js";
import { decidedByEntropy } from "./replay/replay.js";
import { rollout } from "./rollout.js";
import { rolloutPresets } from "./presets.js";
import type { RolloutOptions } from "./options.js";
import { randomTextPolicy } from "./testing/random-text-policy.js";

const tools = new ToolSet([calculator()], { callLimit: 5 });

/** A tree with room for many decisions. */
const grow = (options: RolloutOptions) =>
  rollout(
    randomTextPolicy(),
    { prompt: "q" },
    { ...rolloutPresets.arpo, n: 12, initialRollouts: 3, beamSize: 4, tools, ...options },
  );

test("RolloutTree.replay() under the tree's own settings says what happened", async () => {
  const random = Random.from(6);
  for (let seed = 0; seed < 40; seed++) {
    const tree = await grow({
      seed,
      rule: random.choose(branchRules),
      branchProbability: random.uniform(),
      entropyWeight: random.uniform(),
      penalty: random.choose(["prompt", "path"]),
      baseline: random.choose(["own", "ancestor"]),
      entropyTiming: random.choose(["before-result", "after-result"]),
    });
    const replay = tree.replay({});
    const told = replay.attempts.map(({ trajectory, round, attempt, branch, remaining, score }) => [
      trajectory,
      round,
      attempt,
      branch,
      remaining,
      score,
    ]);
    const made = tree.nodes
      .flatMap((node) => node.branch ?? [])
      .sort((a, b) => a.round - b.round || a.trajectory - b.trajectory || a.attempt - b.attempt)
      .map((a) => [a.trajectory, a.round, a.attempt, a.branch, a.remaining, a.score]);
    assert.deepEqual(told, made);
    assert.equal(replay.branches, replay.before);
    assert.deepEqual([replay.unseen, replay.missing], [0, []]);
    assert.ok(replay.attempts.every((a) => a.was === a.branch));
  }
});

test("RolloutTree.replay() tells where another probability would have branched", async () => {
  const tree = await grow({ seed: 2, n: 6, branchProbability: 0.05, entropyWeight: 0 });
  const never = tree.replay({ probability: 0, weight: 0 });
  assert.equal(never.branches, 0);
  const branched = tree.trajectories
    .filter((trajectory) => trajectory.kind === "branch")
    .map((trajectory) => trajectory.id);
  for (const trajectory of branched) assert.ok(never.missing.includes(trajectory));
  const always = tree.replay({ probability: 1 });
  assert.ok(always.branches > tree.replay({}).branches);
  assert.ok(always.unseen > 0);
  assert.ok(always.attempts.every((a) => a.branch && a.bar === 1));
});

test("RolloutTree.replay() agrees with a rollout that really has the other setting", async () => {
  // In the first round both have the same trajectories and draws, whatever the setting.
  for (let seed = 0; seed < 20; seed++) {
    const tree = await grow({ seed, branchProbability: 0 });
    const other = await grow({ seed, rule: "aepo-code", branchProbability: 0.6 });
    const first = (list: { round: number; u: number; branch: boolean }[]) =>
      list.filter((a) => a.round === 0).map(({ u, branch }) => [u, branch]);
    const replay = tree.replay({ rule: "aepo-code", probability: 0.6 });
    assert.deepEqual(
      first(replay.attempts),
      first(other.nodes.flatMap((node) => node.branch ?? [])),
    );
  }
});

test("a tree is shown as text where no view is loaded", async () => {
  const tree = await grow({ seed: 4 });
  const name = Symbol.for("Jupyter.display");
  const bundle = (tree as unknown as Record<symbol, () => Record<string, string>>)[name]!();
  assert.deepEqual(Object.keys(bundle), ["text/plain"]);
  assert.match(
    bundle["text/plain"]!,
    /^RolloutTree: 12 trajectories \(\d+ branches\), \d+ nodes, seed 4/,
  );
  assert.equal(bundle["text/plain"]!.split("\n").length, 13);
  const fork = await tree.fork(0, { at: 1, n: 2 });
  assert.match(String(fork), /\n {2}forked after token 1 of node 0\n/);
});

test("decidedByEntropy() is the share of decisions that the entropy term changes", async () => {
  const trees = await Promise.all(
    Array.from({ length: 12 }, (_, seed) =>
      grow({ seed, entropyWeight: 2, branchProbability: 0.3 }),
    ),
  );
  const share = decidedByEntropy(trees);
  assert.ok(share! > 0 && share! < 1, `${share}`);
  // Every decision, looked at by itself: with weight 0 it is whether the draw is below the probability.
  const made = trees.flatMap(({ nodes }) => nodes.flatMap(({ branch = [] }) => branch));
  const alone = made.filter(({ branch, u }) => branch !== u <= 0.3).length / made.length;
  assert.ok(Math.abs(share! - alone) < 0.1, `${share} and ${alone}`);
  const coins = await Promise.all([grow({ seed: 1, entropyWeight: 0 })]);
  assert.equal(decidedByEntropy(coins), 0);
  const none = await rollout(randomTextPolicy(), { prompt: "q" }, { n: 2, tools });
  assert.equal(decidedByEntropy([none]), undefined);
});

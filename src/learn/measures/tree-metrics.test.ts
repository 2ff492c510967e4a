import assert from "node:assert/strict";
import { test } from "node:test";
import { score } from "../../reward/score-trees.js";
import { rollout } from "../../rollout/rollout.js";
import { ScriptedPolicy } from "../../rollout/testing/scripted-policy.js";
import { calculator } from "../../tools/calculator/calculator.js";
import { ToolSet } from "../../tools/tool-set.js";
import { advantages } from "../advantages.js";
import { TrainingBatch } from "../batch.js";
import { creditFigures, generatedTokens, treeMetrics } from "./tree-metrics.js";
import { mixedOutcomes } from "./mixed-outcomes.js";

/** Two first trajectories of one prompt, each with a branch behind its call: trajectory 3 alone is right. */
async function branched() {
  const policy = new ScriptedPolicy(({ text, sequence }) =>
    text.includes("<result>") ? { text: `${sequence}\u0001` } : { text: "<calc>1+1</calc>" },
  );
  const tools = new ToolSet([calculator()]);
  const options = { n: 4, initialRollouts: 2, beamSize: 2, branchProbability: 1, tools };
  const tree = await rollout(policy, { prompt: "which?", id: "q" }, options);
  return score([tree], ({ tree: { trajectory: sequence } = { trajectory: -1 } }) =>
    Number(sequence === 3),
  );
}

test("mixedOutcomes() counts by prompt, tree, fork and tool answer", async () => {
  const scored = await branched();
  const found = mixedOutcomes(scored);
  assert.deepEqual(found, {
    prompts: { sets: 1, mixed: 1 },
    trees: { sets: 2, mixed: 1 },
    forks: { sets: 2, mixed: 1 },
    anchors: { sets: 1, mixed: 1 },
  });
  // The bar of success moves what is right.
  assert.equal(mixedOutcomes(scored, { success: 2 }).prompts.mixed, 0);
});

test("treeMetrics() says nothing of sets that are not there and counts a leaf once", async () => {
  const policy = new ScriptedPolicy(({ sequence }) => ({
    text: sequence % 2 === 0 ? "a\u0001" : "bcd\u0001",
  }));
  const tree = await rollout(policy, { prompt: "?" }, { n: 2 });
  const scored = await score(tree, () => 1);
  const metrics = treeMetrics(scored, advantages(scored));
  assert.deepEqual(metrics, {
    "tree/mixed_outcome_ratio": 0,
    "tree/informative_mass": 0,
    "tree/credit_spread": 0,
    "tree/tokens_per_leaf": 3,
  });
  assert.equal(generatedTokens(scored.trees), 6);
  assert.equal(
    treeMetrics(scored, advantages(scored), { generated: 10 })["tree/tokens_per_leaf"],
    5,
  );
});

test("treeMetrics() counts only leaves with credit where a rule trains on some", async () => {
  const tree = await rollout(
    new ScriptedPolicy(() => ({ text: "abc\u0001" })),
    { prompt: "?" },
    { n: 2 },
  );
  const scored = await score(tree, () => 1);
  const [first, second] = advantages(scored).trajectories;
  const sequences = [{ ...first!, advantages: Float32Array.of(1, 1, 1, 1) }, second!];
  const perLeaf = (estimator: string) =>
    treeMetrics(scored, new TrainingBatch(sequences, estimator))["tree/tokens_per_leaf"];
  assert.deepEqual([perLeaf("appo"), perLeaf("grpo")], [8, 4]);
});

test("creditFigures() tell a trajectory's tokens apart", async () => {
  const tree = await rollout(new ScriptedPolicy(() => ({ text: "abc\u0001" })), { prompt: "?" });
  const [sequence] = advantages(await score(tree, () => 1)).trajectories;
  const batch = new TrainingBatch(
    [{ ...sequence!, advantages: Float32Array.of(1, -1, 1, -1) }],
    "by hand",
  );
  assert.deepEqual(creditFigures(batch), { informativeMass: 1, creditSpread: 1 });
});

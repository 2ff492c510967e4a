import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../model/transformer/transformer.js";
import { HfTokenizer } from "../model/tokenizer/hf-tokenizer.js";
import { ModelPolicy } from "../policy/policy-from-model.js";
import { score } from "../reward/score-trees.js";
import { treesFromJsonl, treesToJsonl } from "../rollout/files/tree-jsonl.js";
import { treesFromParquet, treesToParquet } from "../rollout/files/tree-parquet.js";
import { rollout } from "../rollout/rollout.js";
import { RolloutTree } from "../rollout/rollout-tree.js";
import { tinyTokenizer } from "../run/tiny/tiny-tokenizer.js";
import { advantages } from "./advantages.js";
import type { TrainingBatch } from "./batch.js";
import { update } from "./update/learner.js";

// What is parsed has any form.
/* eslint-disable @typescript-eslint/no-explicit-any */

const tokenizer = new HfTokenizer(tinyTokenizer());
const sizes = {
  ...{ vocabSize: tokenizer.vocabSize, hiddenSize: 16, intermediateSize: 24, layers: 1, heads: 2 },
  ...{ contextLength: 64, initializerRange: 0.4 },
};
const policyOf = () => new ModelPolicy(Model.init(sizes, 7), tokenizer);
const options = { n: 3, responseLength: 10 };

async function batchOf(policy: ModelPolicy, seed: number): Promise<TrainingBatch> {
  const tree = await rollout(policy, { prompt: "1+1", groundTruth: "" }, { ...options, seed });
  let n = 0;
  return advantages(await score(tree, () => n++));
}

const learningRate = 1e-2;
const versionsOf = ({ trajectories }: RolloutTree) =>
  trajectories.map(({ versions }) => [...new Set(versions)]);

test("a tree says how many updates its policy had been through, a copy's too", async () => {
  const policy = policyOf();
  const batch = await batchOf(policy, 1);
  assert.equal(batch.scored!.trees[0]!.version, 0);
  await update(policy, batch, { learningRate });
  assert.equal(policy.version, 1);
  const copy = new ModelPolicy(policy.model.copy(), tokenizer);
  assert.equal((await batchOf(copy, 1)).scored!.trees[0]!.version, 1);
});

test("update() finds out how old the weights were that sampled a batch, and corrects for it", async () => {
  const policy = policyOf();
  const [fresh, old, reused, uncorrected] = await Promise.all([1, 2, 2, 2].map((seed) => batchOf(policy, seed))); // prettier-ignore
  assert.equal(old!.age, undefined);
  const first = await update(policy, fresh!, { learningRate });
  assert.deepEqual(fresh!.age, { mean: 0, max: 0 });
  assert.ok(!("staleness/age/mean" in first.metrics));
  assert.doesNotMatch(String(fresh), /updates ago/);
  // A second pass over the same batch is no older.
  await update(policy, fresh!, { learningRate });
  assert.deepEqual(fresh!.age, { mean: 0, max: 0 });
  assert.ok(fresh!.trajectories.every(({ rolloutWeights }) => rolloutWeights === undefined));

  const model = policy.model.copy();
  const { metrics } = await update(policy, old!, { learningRate });
  assert.deepEqual(old!.age, { mean: 2, max: 2 });
  assert.match(String(old), /sampled 2 updates ago/);
  assert.ok(metrics["rollout_corr/k3_kl"]! > 0);
  const ratios = old!.trajectories.flatMap(({ trajectory, oldLogprobs }) =>
    Array.from(trajectory.tokens.keys())
      .filter((t) => trajectory.lossMask[t])
      .map((t) => Math.exp(oldLogprobs![t]! - trajectory.logprobs[t]!)),
  );
  const sum = ratios.reduce((a, b) => a + b, 0);
  const squares = ratios.reduce((a, b) => a + b * b, 0);
  const close = (name: string, expected: number) =>
    assert.ok(Math.abs(metrics[name]! - expected) < 1e-5, `${name} ${metrics[name]} ${expected}`);
  close("staleness/ratio/mean", sum / ratios.length);
  close("staleness/ratio/max", Math.max(...ratios));
  close("staleness/effective_tokens", sum ** 2 / (ratios.length * squares));

  // What it said itself when it sampled is no log-probability of now.
  const other = { model };
  const report = await update(other, reused!, { learningRate, reuseLogProbs: true });
  assert.equal(report.metrics["actor/reused_log_probs"], 0);
  model.updates = 2;
  const plain = await update(other, uncorrected!, { learningRate, rolloutCorrection: false });
  assert.equal(plain.metrics["staleness/age/max"], 2);
  assert.ok(!("rollout_corr/k3_kl" in plain.metrics));
});

test("a fork by newer weights keeps the versions of what it goes on from, in every file", async () => {
  const policy = policyOf();
  const tree = await rollout(policy, { prompt: "1+1", groundTruth: "" }, { ...options, seed: 3 });
  await update(policy, await batchOf(policy, 1), { learningRate });
  const forked = await tree.fork(0, { at: 2, seed: 4, n: 2 });
  assert.equal(forked.version, 1);
  assert.deepEqual([...forked.nodes[0]!.versions!], [0, 0]);
  for (const versions of versionsOf(forked)) assert.deepEqual(versions, [0, 1]);
  for (const again of [
    treesFromJsonl(treesToJsonl([forked])),
    await treesFromParquet(await treesToParquet([forked])),
  ]) {
    assert.deepEqual({ ...again[0]! }, { ...forked });
    assert.deepEqual(versionsOf(again[0]!), versionsOf(forked));
  }
  const same = await tree.fork(0, { at: 2, policy: policyOf() });
  assert.equal(same.nodes[0]!.versions, undefined);
});

test("a tree with wrong versions is refused", async () => {
  const tree = await rollout(policyOf(), { prompt: "1", groundTruth: "" }, { ...options, seed: 3 });
  const refused = (change: (data: Record<string, any>) => void, why: RegExp) => {
    const data = JSON.parse(treesToJsonl([tree])) as Record<string, any>;
    change(data);
    assert.throws(() => treesFromJsonl(JSON.stringify(data)), why);
  };
  refused((data) => (data["version"] = -1), /version must be an integer from 0/);
  refused((data) => (data["nodes"][0].versions = [1]), /nodes\[0\].versions must be \d+ numbers, got 1/); // prettier-ignore
  refused((data) => (data["nodes"][0].versions = ["new"]), /versions must be a list of numbers/);
});

test("decoupled PPO makes the policy before the step of the sampler's age, without a pass of its own", async () => {
  const learn = { learningRate, loss: "decoupled", proximal: "loglinear" } as const;
  const lossOf = async (given: object) => {
    const policy = policyOf();
    const [first, second, batch] = await Promise.all(
      [1, 2, 3].map((seed) => batchOf(policy, seed)),
    );
    for (const one of [first!, second!]) await update(policy, one, { learningRate });
    const { metrics } = await update(policy, batch!, { ...learn, ...given });
    return { loss: metrics["actor/pg_loss"]!, metrics, batch: batch! };
  };
  const halfway = await lossOf({});
  const { batch, metrics } = halfway;
  assert.deepEqual(batch.age, { mean: 2, max: 2 });
  assert.ok(batch.trajectories.every(({ oldFrom }) => oldFrom === "sampler"));
  assert.ok(metrics["staleness/ratio/max"]! > 1);
  // Two updates old: the policy before the step is half way from the sampler's to the one that is trained.
  const sum = { all: 0, tokens: 0 };
  for (const { trajectory, newLogprobs, advantages } of batch.trajectories) {
    trajectory.lossMask.forEach((m, t) => {
      if (!m) return;
      const half = (newLogprobs![t]! - trajectory.logprobs[t]!) / 2;
      const [ratio, a] = [Math.exp(half), advantages[t]!];
      const clipped = Math.min(Math.max(ratio, 0.8), 1.2);
      const worse = Math.max(-ratio * a, -clipped * a);
      sum.all += Math.min(worse, 3 * Math.abs(a)) * (Math.exp(half) <= 5 ? Math.exp(half) : 0);
      sum.tokens++;
    });
  }
  const expected = sum.all / sum.tokens;
  assert.ok(Math.abs(halfway.loss - expected) < 1e-5, `${halfway.loss} ${expected}`);
  const measured = await lossOf({ proximal: "measured" });
  assert.notEqual(measured.loss, halfway.loss);
  assert.ok(measured.batch.trajectories.every(({ oldFrom }) => oldFrom === undefined));

  const silent = await batchOf(policyOf(), 5);
  silent.trajectories[0]!.trajectory.logprobs.fill(NaN);
  await assert.rejects(
    update(policyOf(), silent, learn),
    /what the sampler said must be .*finite.* trajectory 0/,
  );
});

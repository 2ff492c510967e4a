import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../../model/transformer/transformer.js";
import { Random } from "../../base/random/random.js";
import type { Trajectory } from "../../rollout/tree/trajectory.js";
import { advantages } from "../advantages.js";
import { type BatchSequence, TrainingBatch } from "../batch.js";
import { Learner, update } from "./learner.js";
import type { UpdateOptions } from "./update-settings.js";
import { lossAggregations } from "../losses/base/options.js";
import { UpdateReport } from "./update-report.js";
import { presets } from "../../run/presets.js";
import { Scored } from "../../reward/scored.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";

const sizes = { vocabSize: 11, hiddenSize: 8, intermediateSize: 16, layers: 2, heads: 2 };

function trajectory(
  sequence: number,
  prompt: number[],
  tokens: number[],
  nodes = [sequence],
): Trajectory {
  const ones = () => Uint8Array.from(tokens, () => 1);
  const lossMask = Uint8Array.from(tokens, (_, t) => Number(t !== 1));
  return {
    tree: 0,
    ...{
      id: sequence,
      kind: "initial",
      round: 0,
      parent: -1,
      from: -1,
      leaf: nodes.at(-1)!,
      calls: 0,
    },
    nodes,
    end: "answer",
    prompt: Int32Array.from(prompt),
    tokens: Int32Array.from(tokens),
    text: "",
    written: lossMask,
    attention: ones(),
    lossMask,
    logprobs: new Float32Array(tokens.length),
    entropies: new Float32Array(tokens.length),
    toolCalls: [],
  };
}

function batch(): TrainingBatch {
  const random = Random.from(2);
  const sequences = [3, 5, 4, 6].map((n, i): BatchSequence => {
    const tokens = Array.from({ length: n }, () => 1 + random.integer(10));
    const advantage = random.normal();
    return {
      trajectory: trajectory(i, [1, 2 + i], tokens),
      group: "q",
      reward: advantage,
      advantages: new Float32Array(n).fill(advantage),
      returns: new Float32Array(n),
    };
  });
  return new TrainingBatch(sequences, "grpo");
}

const weights = (model: Model) =>
  [...model.weights.values()].map((w) => Float32Array.from(w.dataSync()));
const distance = (a: Float32Array[], b: Float32Array[]) =>
  Math.max(...a.flatMap((x, i) => Array.from(x, (v, j) => Math.abs(v - b[i]![j]!))));

async function updated(options: UpdateOptions) {
  const model = Model.init(sizes, 3);
  const learner = new Learner(model, { learningRate: 1e-2, ...options });
  const report = await learner.update(batch());
  return { model, report, learner };
}

for (const aggregation of lossAggregations) {
  test(`Learner.update() does the same whatever fits into one pass (${aggregation})`, async () => {
    const whole = await updated({ aggregation });
    const split = await updated({ aggregation, maxTokensPerPass: 8 });
    assert.ok(distance(weights(whole.model), weights(split.model)) < 2e-4);
    assert.ok(distance(weights(whole.model), weights(Model.init(sizes, 3))) > 1e-3);
  });
}

test("Learner.update() raises what had a positive advantage and lowers what had a negative", async () => {
  const { learner, report } = await updated({ weightDecay: 0, epochs: 3 });
  const after = await learner.logProbs(report.batch.trajectories);
  let moved = 0;
  report.batch.trajectories.forEach((sequence, i) => {
    sequence.trajectory.lossMask.forEach((m, t) => {
      moved += m * sequence.advantages[t]! * (after.logprobs[i]![t]! - sequence.oldLogprobs![t]!);
    });
  });
  assert.ok(moved > 0.05, String(moved));
  assert.ok(report.metrics["actor/grad_norm"]! > 0);
  assert.equal(learner.steps, 3);
});

test("Learner.update() starts from ratio 1 and reports tokens by what clipping did to them", async () => {
  const { report } = await updated({ miniBatchSize: 2, epochs: 4, learningRate: 0.05 });
  const [sequence] = report.batch.trajectories;
  const tokens = report.tokens(sequence!);
  assert.equal(tokens[1], undefined); // the tool's token
  assert.ok(tokens.some((t) => t && Math.abs(t.ratio - 1) > 0.01));
  const once = await updated({});
  assert.ok(Math.abs(once.report.tokens(once.report.batch.trajectories[0]!)[0]!.ratio - 1) < 1e-6);
  assert.ok(Math.abs(once.report.metrics["actor/ppo_kl"]!) < 1e-7);
});

test("Learner adds a KL loss against a frozen reference, and asks for one", async () => {
  const reference = Model.init(sizes, 4);
  const options = { klLossCoefficient: 0.1, klLossKind: "k3" } as const;
  const { report } = await updated({ ...options, reference });
  assert.ok(report.metrics["actor/kl_loss"]! > 0);
  await assert.rejects(updated(options), /a reference model must be given/);
});

test("Learner skips a step whose gradient is not finite and says so", async () => {
  const model = Model.init(sizes, 3);
  const before = weights(model);
  const bad = batch();
  // Finite, and too large for a gradient's square.
  bad.trajectories[0]!.advantages.fill(1e38);
  const report = await new Learner(model, { learningRate: 1e-2 }).update(bad);
  assert.equal(report.skippedSteps, 1);
  assert.equal(distance(before, weights(model)), 0);
});

test("Learner restored continues with the same bytes", async () => {
  const straight = await updated({});
  await straight.learner.update(batch());
  const first = await updated({});
  const second = new Learner(first.model, { learningRate: 1e-2 });
  second.restore(await first.learner.state());
  await second.update(batch());
  assert.equal(distance(weights(straight.model), weights(first.model)), 0);
});

test("advantages() attributes shared tokens softly or hard", () => {
  const shared = [5, 6];
  const sequences = [
    { trajectory: trajectory(0, [1], [...shared, 7], [0, 1]), score: 1 },
    { trajectory: trajectory(1, [1], [...shared, 8, 9], [0, 2]), score: 0 },
  ].map(({ trajectory: t, score }) => ({
    trajectory: t,
    group: "q",
    score: { score, reason: "" },
  }));
  const node = (length: number) => ({ tokens: new Int32Array(length) });
  const tree = { index: 0, nodes: [node(2), node(1), node(2)] } as unknown as RolloutTree;
  const scored = new Scored(sequences, [tree]);
  const soft = advantages(scored, { estimator: "grpo" }).trajectories.map((r) => r.advantages);
  const hard = advantages(scored, { estimator: "grpo", attribution: "hard" }).trajectories;
  assert.ok(soft[0]![0]! > 0.7 && soft[1]![0]! < -0.7);
  assert.ok(Math.abs(hard[0]!.advantages[0]!) < 1e-6);
  assert.equal(hard[0]!.advantages[2], soft[0]![2]);
  assert.equal(hard[1]!.advantages[3], soft[1]![3]);
});

test("Learner.update() weighs advantages by entropy without a bonus, unless told to do as the official actor", async () => {
  const balanced = { entropyBalancedAdvantage: true };
  const plain = weights((await updated({})).model);
  const weighed = weights((await updated(balanced)).model);
  const official = { ...balanced, entropyAdvantageNeedsBonus: true };
  assert.ok(distance(plain, weighed) > 1e-4);
  assert.equal(distance(plain, weights((await updated(official)).model)), 0);
  const bonus = { entropyCoefficient: 0.01 };
  const both = weights((await updated({ ...balanced, ...bonus })).model);
  assert.equal(distance(both, weights((await updated({ ...official, ...bonus })).model)), 0);
});

test("update() keeps the optimiser's moments and none of the first call's options", async () => {
  const first = { ...presets.aepo, learningRate: 1e-2, weightDecay: 0.3, maxNorm: 0.1 };
  const policy = { model: Model.init(sizes, 3) };
  await update(policy, batch(), first);
  const report = await update(policy, batch(), presets.arpo);
  assert.equal(report.options.entropyBalancedClipping, undefined);
  assert.equal(report.options.entropyBalancedAdvantage, undefined);
  assert.equal(report.metrics["actor/lr"], 1e-6);

  const copy = Model.init(sizes, 3);
  const before = new Learner(copy);
  await before.update(batch(), first);
  const after = new Learner(copy);
  after.restore(await before.state());
  await after.update(batch(), presets.arpo);
  assert.equal(distance(weights(policy.model), weights(copy)), 0);
});

test("update() takes weight decay and the largest norm of each call", async () => {
  const run = async (second: UpdateOptions) => {
    const policy = { model: Model.init(sizes, 3) };
    await update(policy, batch(), { learningRate: 1e-2 });
    await update(policy, batch(), { learningRate: 1e-2, ...second });
    return weights(policy.model);
  };
  const usual = await run({});
  assert.ok(distance(usual, await run({ weightDecay: 0.9 })) > 1e-4);
  assert.ok(distance(usual, await run({ maxNorm: 1e-3 })) > 1e-5);
});

test("update() checks the options of every call, and changes nothing where one is wrong", async () => {
  const wrong: [UpdateOptions | Record<string, unknown>, RegExp][] = [
    [{ learningRate: NaN }, /learningRate must be a finite number of at least 0, got NaN/],
    [
      { learningRate: Infinity },
      /learningRate must be a finite number of at least 0, got Infinity/,
    ],
    [{ learningRate: -1 }, /learningRate must be a finite number of at least 0, got -1/],
    [{ learningRate: "x" }, /learningRate must be a finite number of at least 0, got "x"/],
    [{ weightDecay: -1 }, /weightDecay must be/],
    [{ maxNorm: 0 }, /maxNorm must be a number above 0, got 0/],
    [{ miniBatchSize: 1.5 }, /miniBatchSize must be an integer/],
    [{ epochs: 0 }, /epochs must be an integer of at least 1, got 0/],
    [{ maxTokensPerPass: NaN }, /maxTokensPerPass must be a number of at least 1, got NaN/],
    [{ temperature: 0 }, /temperature must be a finite number above 0, got 0/],
    [{ loss: "gpso" }, /loss must be one of vanilla, gspo, .*, got "gpso"/],
    [{ aggregation: "mean" }, /aggregation must be one of token-mean, .* got "mean"/],
    [{ clipRatio: -0.1 }, /clipRatio must be/],
    [{ clipRatioC: 1 }, /clipRatioC must be a number above 1, got 1/],
    [{ entropyCoefficient: "0" }, /entropyCoefficient must be a finite number, got "0"/],
    [{ entropyBalancedClipping: "yes" }, /entropyBalancedClipping must be true or false/],
  ];
  const policy = { model: Model.init(sizes, 3) };
  await update(policy, batch(), { learningRate: 1e-3 });
  const before = weights(policy.model);
  for (const [options, message] of wrong) {
    await assert.rejects(update(policy, batch(), options as UpdateOptions), message);
  }
  assert.equal(distance(before, weights(policy.model)), 0);
});

test("update() with a KL loss measures the reference of a batch that was updated without", async () => {
  const policy = { model: Model.init(sizes, 3) };
  const own = batch();
  await update(policy, own, { learningRate: 1e-3 });
  const reference = Model.init(sizes, 4);
  const { metrics } = await update(policy, own, { klLossCoefficient: 0.1, reference });
  assert.ok(metrics["actor/kl_loss"]! > 0);
});

test("Learner.update() with GSPO does the same whatever fits into one pass", async () => {
  const whole = await updated({ loss: "gspo" });
  const split = await updated({ loss: "gspo", maxTokensPerPass: 8 });
  assert.ok(distance(weights(whole.model), weights(split.model)) < 2e-4);
});

test("UpdateReport.tokens() refuses a trajectory that was not updated", () => {
  const { trajectories: sequences } = batch();
  const report = new UpdateReport({}, new TrainingBatch(sequences, "grpo"), {}, 0);
  assert.throws(() => report.tokens(sequences[0]!), /must have been updated, got trajectory 0/);
});

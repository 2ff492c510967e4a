import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../../model/transformer/transformer.js";
import { Random } from "../../base/random/random.js";
import type { Trajectory } from "../../rollout/tree/trajectory.js";
import { type BatchSequence, TrainingBatch } from "../batch.js";
import { Learner, update } from "./learner.js";
import { type LossName, lossNames, lossOf, lossPresets } from "../losses/registry.js";
import { type UpdateOptions, updateSettings } from "./update-settings.js";

const sizes = { vocabSize: 11, hiddenSize: 8, intermediateSize: 16, layers: 2, heads: 2 };

/** Trajectories of several lengths with a tool result in each, so that they have two turns. */
function batch(): TrainingBatch {
  const random = Random.from(2);
  const sequences = [5, 7, 6, 9].map((n, i): BatchSequence => {
    const tokens = Int32Array.from({ length: n }, () => 1 + random.integer(10));
    const lossMask = Uint8Array.from(tokens, (_, t) => Number(t !== 2));
    const advantage = random.normal();
    const trajectory: Partial<Trajectory> = {
      ...{ tree: 0, id: i, nodes: [i], prompt: Int32Array.from([1, 2 + i]), tokens, lossMask },
    };
    return {
      trajectory: trajectory as Trajectory,
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

/** Two passes over the batch: in the second one ratios are no longer 1. */
async function updated(options: UpdateOptions) {
  const model = Model.init(sizes, 3);
  const learner = new Learner(model, { learningRate: 5e-3, epochs: 2, droBeta: 0.5, ...options });
  const report = await learner.update(batch());
  return { model, report };
}

// These two look at a whole forward pass, as the reference does at a micro-batch.
const ofPasses: readonly LossName[] = ["clip_cov", "kl_cov"];

for (const loss of lossNames) {
  test(`an update by ${loss} moves a model, and the same whatever fits into one pass`, async () => {
    const { model, report } = await updated({ loss });
    assert.ok(distance(weights(model), weights(Model.init(sizes, 3))) > 1e-3);
    assert.equal(report.skippedSteps, 0);
    for (const [name, value] of Object.entries(report.metrics)) {
      assert.ok(Number.isFinite(value), `${name}: ${value}`);
    }
    const told = report.batch.trajectories.flatMap((sequence) => report.tokens(sequence));
    assert.equal(told.filter((token) => token === undefined).length, 4);
    if (ofPasses.includes(loss)) return;
    const split = await updated({ loss, maxTokensPerPass: 12 });
    assert.ok(distance(weights(model), weights(split.model)) < 5e-4);
  });
}

test("Clip-Cov draws by seed and step, and notes whom it drew", async () => {
  const options: UpdateOptions = {
    ...{ loss: "clip_cov", clipCovRatio: 0.2, clipCovLow: -5, maxSequencesPerPass: 2 },
  };
  const run = async (seed: number) => {
    const { model, report } = await updated({ ...options, random: Random.from(seed) });
    const chosen = report.batch.trajectories.map((sequence) =>
      Array.from(sequence.chosen!).join(""),
    );
    for (const sequence of report.batch.trajectories) {
      report.tokens(sequence).forEach((token, t) => {
        if (token) assert.equal(token.region === "chosen", sequence.chosen![t] === 1);
      });
    }
    return { weights: weights(model), chosen };
  };
  const [first, again, other] = [await run(1), await run(1), await run(2)];
  assert.deepEqual(first.chosen, again.chosen);
  assert.equal(distance(first.weights, again.weights), 0);
  assert.notDeepEqual(first.chosen, other.chosen);
  assert.match(first.chosen.join(""), /1/);
});

test("a correction's weights multiply the token losses of every loss", async () => {
  const own = batch();
  // The sampler found every token far more likely: nothing is left of their weights.
  for (const { trajectory } of own.trajectories) {
    Object.assign(trajectory, { logprobs: trajectory.tokens.slice().fill(30) });
  }
  const learner = new Learner(Model.init(sizes, 3), { learningRate: 5e-3, weightDecay: 0 });
  for (const loss of lossNames) {
    const rolloutCorrection = { weights: "token" } as const;
    if (lossOf({ loss }).asks === "sampler") {
      await assert.rejects(learner.update(own, { loss, rolloutCorrection }), {
        message: `Cannot update: the loss ${loss} corrects for the sampler itself, so rolloutCorrection must be left out, got options`,
      });
      continue;
    }
    const { metrics } = await learner.update(own, { loss, droBeta: 1, rolloutCorrection });
    assert.ok(metrics["actor/grad_norm"]! < 1e-6, loss);
  }
});

test("published losses are options that an update takes", () => {
  for (const [name, preset] of Object.entries(lossPresets)) {
    assert.equal(updateSettings(preset).loss, preset.loss, name);
  }
  assert.throws(() => updateSettings({ loss: "dro" }), /droBeta must be given for the loss dro/);
  assert.throws(() => updateSettings({ loss: "x" as LossName }), /loss must be one of vanilla/);
  assert.throws(() => updateSettings({ klCovRatio: 2 }), /klCovRatio must be a number from 0 to 1/);
});

test("update() refuses an option that only other losses read, and names both", async () => {
  const policy = { model: Model.init(sizes, 3) };
  const refuse = (options: UpdateOptions, message: RegExp) =>
    assert.rejects(update(policy, batch(), options), message);
  await refuse(
    { loss: "gspo", gppoLow: 1 },
    /^RangeError: Cannot update: gppoLow must be left out beside the loss gspo, which does not read it \(ce_gppo\), got 1$/,
  );
  await refuse({ preset: "aepo", klCovRatio: 0.1 }, /beside the loss vanilla, .*\(kl_cov\)/);
  // Its own, one that is not set, and those that all losses take are none of that.
  const own = { loss: "ce_gppo", gppoLow: 1, klCovRatio: undefined, clipRatio: 0.1 } as const;
  await update(policy, batch(), own);
  policy.model.dispose();
});

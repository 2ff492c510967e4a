import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../../src/base/random/random.js";
import { type BatchSequence, TrainingBatch } from "../../../src/learn/batch.js";
import type { RolloutCorrection } from "../../../src/learn/correction/rollout-correction.js";
import { lossRegistry } from "../../../src/learn/losses/registry.js";
import { Critic } from "../../../src/learn/update/critic.js";
import { Learner } from "../../../src/learn/update/learner.js";
import type { UpdateOptions } from "../../../src/learn/update/update-settings.js";
import { Model } from "../../../src/model/transformer/transformer.js";
import type { Trajectory } from "../../../src/rollout/tree/trajectory.js";
import { bytes, fill, fillers } from "./fillers.js";

const sizes = { vocabSize: 11, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };

/** Trajectories with a tool result each, measured by another policy, with `by` on what was not written. */
function batch(by?: number): TrainingBatch {
  const random = Random.from(2);
  const sequences = [5, 7, 6].map((n, i): BatchSequence => {
    const tokens = Int32Array.from({ length: n }, () => 1 + random.integer(10));
    const lossMask = Uint8Array.from(tokens, (_, t) => Number(t !== 2 && t !== n - 1));
    const numbers = () => Float32Array.from(tokens, () => -2 + random.normal() / 4);
    const trajectory: Partial<Trajectory> = {
      ...{ tree: 0, id: i, nodes: [i], prompt: Int32Array.from([1, 2 + i]), tokens, lossMask },
      ...{ logprobs: numbers(), entropies: numbers() },
    };
    const sequence = {
      trajectory: trajectory as Trajectory,
      ...{ group: "q", reward: i, oldLogprobs: numbers(), refLogprobs: numbers() },
      ...{ advantages: numbers(), returns: numbers(), values: numbers(), entropies: numbers() },
    };
    if (by !== undefined) {
      for (const of of [sequence, trajectory] as Record<string, unknown>[]) {
        for (const values of Object.values(of)) {
          if (values instanceof Float32Array) fill(values, lossMask, by);
        }
      }
    }
    return sequence;
  });
  return new TrainingBatch(sequences, "grpo");
}

const weights = (model: Model) =>
  [...model.weights.values()].map((weight) => bytes(weight.dataSync())).join();

async function updated(own: TrainingBatch, options: UpdateOptions) {
  const model = Model.init(sizes, 3);
  const reference = Model.init(sizes, 4);
  const { metrics } = await new Learner(model, {
    ...{ learningRate: 5e-3, epochs: 2, droBeta: 0.5, reference, ...options },
  }).update(own);
  return { weights: weights(model), metrics };
}

const corrections: RolloutCorrection[] = [
  { weights: "token", reject: "token_k3", rejectThreshold: 0.4 },
  { weights: "sequence", normalize: true, reject: "seq_mean_k1", rejectThreshold: "0.5_2" },
  { mode: "bypass" },
  { mode: "bypass", bypassLoss: "reinforce", weights: "sequence" },
];

const ways: UpdateOptions[] = [
  ...lossRegistry.names.map((loss) => ({ loss: loss as "vanilla", klLossCoefficient: 0.1 })),
  ...corrections.map((rolloutCorrection) => ({ rolloutCorrection })),
  { entropyBalancedAdvantage: true, entropyCoefficient: 0.1, reuseLogProbs: true },
];

test("what stands at a masked token changes no bit of an update's weights and metrics", async () => {
  for (const options of ways) {
    const expected = await updated(batch(), options);
    for (const by of fillers) {
      assert.deepEqual(await updated(batch(by), options), expected, JSON.stringify(options));
    }
  }
});

test("what stands at a masked token changes no bit of a critic", async () => {
  const trained = async (own: TrainingBatch) => {
    const model = Model.init({ ...sizes, head: "value" }, 1);
    const metrics = await new Critic(model, { learningRate: 1e-3 }).update(own);
    return { weights: weights(model), metrics };
  };
  const expected = await trained(batch());
  for (const by of fillers) assert.deepEqual(await trained(batch(by)), expected, String(by));
});

test("what is not finite and counts is refused with its trajectory and token", async () => {
  const bad = (name: "oldLogprobs" | "advantages" | "refLogprobs" | "values" | "returns") => {
    const own = batch();
    own.trajectories[1]![name]![3] = -Infinity;
    return own;
  };
  for (const name of ["oldLogprobs", "advantages", "refLogprobs"] as const) {
    await assert.rejects(updated(bad(name), { klLossCoefficient: 0.1 }), {
      message: `Cannot update: ${name} must be finite, got -Infinity at token 3 of trajectory 1 of q`,
    });
  }
  const critic = new Critic(Model.init({ ...sizes, head: "value" }, 1));
  for (const name of ["values", "returns"] as const) {
    await assert.rejects(critic.update(bad(name)), {
      message: `Cannot update the critic: ${name} must be finite, got -Infinity at token 3 of trajectory 1 of q`,
    });
  }
});

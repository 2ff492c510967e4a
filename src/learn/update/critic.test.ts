import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../../model/transformer/transformer.js";
import type { Trajectory } from "../../rollout/tree/trajectory.js";
import { type BatchSequence, TrainingBatch } from "../batch.js";
import { Critic } from "./critic.js";
import type { CriticOptions } from "./critic-settings.js";
import { valueAggregations } from "../losses/base/options.js";

const sizes = { vocabSize: 11, hiddenSize: 8, intermediateSize: 16, layers: 2, heads: 2 };

/** Trajectories of unlike lengths, so that a weight by trajectories is not one by tokens. */
function batch(): TrainingBatch {
  const sequences = [1, 9, 2, 6].map((length, i): BatchSequence => {
    const tokens = Int32Array.from({ length }, (_, t) => 1 + ((3 * t + i) % 10));
    const lossMask = Uint8Array.from(tokens, (_, t) => Number(t !== 1));
    const trajectory: Partial<Trajectory> = {
      ...{ tree: 0, row: i, nodes: [i], end: "answer", prompt: Int32Array.of(1, 2 + i), tokens },
      ...{ written: lossMask, attention: new Uint8Array(length).fill(1), lossMask, toolCalls: [] },
    };
    return {
      trajectory: trajectory as Trajectory,
      ...{ group: "q", reward: i, advantages: new Float32Array(length) },
      returns: Float32Array.from(tokens, (_, t) => i - t / 4),
      values: new Float32Array(length),
    };
  });
  return new TrainingBatch(sequences, "gae");
}

async function updated(options: CriticOptions) {
  const model = Model.init({ ...sizes, head: "value" }, 3);
  const critic = new Critic(model, { learningRate: 1e-2, clipRange: 9, ...options });
  const metrics = await critic.update(batch());
  const weights = [...model.weights.values()].flatMap((w) => [...w.dataSync()]);
  critic.dispose();
  return { metrics, weights };
}

for (const aggregation of valueAggregations) {
  test(`Critic.update() has the same gradient whatever fits into one pass (${aggregation})`, async () => {
    const whole = await updated({ aggregation });
    for (const bounds of [{ maxTokensPerPass: 12 }, { maxSequencesPerPass: 1 }]) {
      const split = await updated({ aggregation, ...bounds });
      const norm = whole.metrics["critic/grad_norm"]!;
      assert.ok(norm > 1e-3);
      assert.ok(Math.abs(split.metrics["critic/grad_norm"]! / norm - 1) < 1e-4);
      const apart = Math.max(...whole.weights.map((w, i) => Math.abs(w - split.weights[i]!)));
      assert.ok(apart < 2e-4, String(apart));
    }
  });
}

test("Critic refuses mini-batches of no trajectories, instead of updating for ever", () => {
  const model = Model.init({ ...sizes, head: "value" }, 3);
  for (const miniBatchSize of [0, 0.5, -1, NaN]) {
    assert.throws(
      () => new Critic(model, { miniBatchSize }),
      /^RangeError: Cannot make a critic: miniBatchSize must be an integer of at least 1, or Infinity, got/,
    );
  }
});

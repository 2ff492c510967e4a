import assert from "node:assert/strict";
import { test } from "node:test";
import { readRollouts } from "../../../src/formats/read-rollouts.js";
import { advantages } from "../../../src/learn/advantages.js";
import { Learner } from "../../../src/learn/update/learner.js";
import { Model } from "../../../src/model/transformer/transformer.js";
import { bytes } from "./fillers.js";

const sizes = { vocabSize: 11, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };

/** Two captured sessions of one group, with something on the tokens that the model did not write. */
const captured = (placeholder: unknown) =>
  [1, 0].map((score, i) => ({
    ...{ session_id: `s${i}`, group: "q", reward: score },
    sequences: [
      {
        input_ids: [1, 2, 5 + i, 6, 7, 8, 9],
        loss_mask: [0, 0, 1, 1, 0, 0, 1],
        logprobs: [placeholder, placeholder, -0.5, -1, placeholder, placeholder, -2 - i],
        entropies: [placeholder, placeholder, 0.5, 1, placeholder, placeholder, 2],
      },
    ],
  }));

test("imported log-probabilities may have any placeholder on masked tokens", async () => {
  const updated = async (placeholder: unknown) => {
    const { scored } = readRollouts(captured(placeholder));
    const model = Model.init(sizes, 3);
    const learner = new Learner(model, {
      learningRate: 5e-3,
      rolloutCorrection: { mode: "bypass" },
    });
    const { metrics } = await learner.update(advantages(scored!, { estimator: "grpo" }));
    const weights = [...model.weights.values()].map((weight) => bytes(weight.dataSync()));
    return { metrics, weights };
  };
  const expected = await updated(0);
  assert.ok(Number.isFinite(expected.metrics["actor/pg_loss"]));
  for (const placeholder of [null, NaN, -Infinity, 1e30, "n/a"]) {
    assert.deepEqual(await updated(placeholder), expected, String(placeholder));
  }
});

import { checkArguments } from "../../arguments/check-arguments.js";
import { tf } from "../../tensor/tf.js";
import { type Rows, maskedMean } from "../advantage/masked.js";
import { type KlControl, controlKl } from "./kl-controller.js";
import { type KlKind, klPenalty } from "./kl.js";

/**
 * Takes a KL penalty off each token's reward and updates the controller with the batch's mean KL.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { klInReward } from "arpo-lab/experimental/learn";
 *
 * const { rewards } = await klInReward(
 *   { scores: [[0, 1]], oldLogprobs: [[-1, -1]], refLogprobs: [[-2, -1]], mask: [[1, 1]] },
 *   { kind: "kl", control: { type: "fixed", coefficient: 0.5 } },
 * );
 * assert.deepEqual([...rewards[0]], [-0.5, 1]);
 * ```
 */
export async function klInReward(
  batch: { scores: Rows; oldLogprobs: Rows; refLogprobs: Rows; mask: Rows },
  how: { kind: KlKind; control: KlControl },
): Promise<{
  rewards: Float64Array[];
  control: KlControl;
  metrics: Record<string, number>;
}> {
  checkArguments(
    "add KL to rewards",
    { batch, how },
    {
      batch: { scores: "list", oldLogprobs: "list", refLogprobs: "list", mask: "list" },
      how: { kind: "text", control: "object" },
    },
  );
  const { kind, control } = how;
  const { scores, oldLogprobs, refLogprobs, mask } = batch;
  const matrix = (rows: Rows) => tf.tensor2d(rows.map((row) => Array.from(row)));
  const penalty = tf.tidy(() =>
    klPenalty(matrix(oldLogprobs), matrix(refLogprobs), kind).mul(matrix(mask)),
  );
  const kl = (await penalty.array()) as number[][];
  penalty.dispose();
  const rewards = scores.map((row, i) =>
    Float64Array.from(row, (score, t) => score - control.coefficient * kl[i]![t]!),
  );
  const perRow = kl.map((row, i) => maskedMean([row], [mask[i]!]));
  const current = perRow.reduce((sum, v) => sum + v, 0) / perRow.length;
  return {
    rewards,
    control: controlKl(control, { kl: current, steps: scores.length }),
    metrics: {
      "actor/reward_kl_penalty": current,
      "actor/reward_kl_penalty_coeff": control.coefficient,
    },
  };
}

import { checkArguments } from "../../arguments/check-arguments.js";
import { tf } from "../../tensor/index.js";

export type Tensor = InstanceType<typeof tf.Tensor>;

/**
 * How a matrix of token losses becomes one number.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { lossAggregations } from "arpo-lab/learn";
 *
 * assert.equal(lossAggregations[0], "token-mean");
 * ```
 */
export const lossAggregations = [
  "token-mean",
  "seq-mean-token-sum",
  "seq-mean-token-mean",
  "seq-mean-token-sum-norm",
] as const;
export type LossAggregation = (typeof lossAggregations)[number];

/**
 * Mean of the masked tokens, with 1e-8 added to their count; differentiable.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { maskedTensorMean } from "arpo-lab/learn";
 * import { tf } from "arpo-lab/tensor";
 *
 * assert.equal(maskedTensorMean(tf.tensor([1, 3, 9]), tf.tensor([1, 1, 0])).dataSync()[0], 2);
 * ```
 */
export function maskedTensorMean(values: Tensor, mask: Tensor): Tensor {
  checkArguments("average", { values, mask }, { values: "tensor", mask: "tensor" });
  return values.mul(mask).sum().div(mask.sum().add(1e-8));
}

export interface AggregateOptions {
  emptyRow?: "zero" | "nan";
  /** Length that `seq-mean-token-sum-norm` divides by; unset: the matrix's own. */
  paddedLength?: number;
}

/**
 * Aggregates token losses [rows, tokens] over a mask. A row whose mask is empty contributes 0 to
 * `seq-mean-token-mean`; the reference divides 0 by 0 there, which `emptyRow: "nan"` reproduces.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { aggregateLoss } from "arpo-lab/learn";
 * import { tf } from "arpo-lab/tensor";
 *
 * const losses = tf.tensor2d([[1, 3], [5, 7]]);
 * const mask = tf.tensor2d([[1, 1], [1, 0]]);
 * assert.equal(aggregateLoss(losses, mask, "token-mean").dataSync()[0], 3);
 * assert.equal(aggregateLoss(losses, mask, "seq-mean-token-mean").dataSync()[0], 3.5);
 * ```
 */
export function aggregateLoss(
  losses: Tensor,
  mask: Tensor,
  mode: LossAggregation,
  options: AggregateOptions = {},
): Tensor {
  checkArguments(
    "aggregate a loss",
    { losses, mask, mode, options },
    { losses: "tensor", mask: "tensor", mode: "text", options: "object" },
  );
  const { emptyRow = "zero", paddedLength = losses.shape[1]! } = options;
  const rowSums = () => losses.mul(mask).sum(-1);
  switch (mode) {
    case "token-mean":
      return maskedTensorMean(losses, mask);
    case "seq-mean-token-sum":
      return rowSums().mean();
    case "seq-mean-token-mean": {
      const counts = mask.sum(-1);
      return rowSums()
        .div(emptyRow === "zero" ? tf.maximum(counts, 1) : counts)
        .mean();
    }
    case "seq-mean-token-sum-norm":
      return rowSums().sum().div(paddedLength);
    default:
      throw new RangeError(
        `Cannot aggregate a loss: the mode must be one of ${lossAggregations.join(", ")}, got ${String(mode)}`,
      );
  }
}

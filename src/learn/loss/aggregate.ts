import { checkArguments } from "../../arguments/check-arguments.js";
import { tf } from "../../tensor/tf.js";
import {
  aggregationRules,
  lossAggregations,
  type AggregationRule,
  type LossAggregation,
} from "./aggregation-modes.js";

export type Tensor = InstanceType<typeof tf.Tensor>;

/** Mean of the masked tokens, with 1e-8 added to their count; differentiable. */
export function maskedTensorMean(values: Tensor, mask: Tensor): Tensor {
  return values.mul(mask).sum().div(mask.sum().add(1e-8));
}

export interface AggregateOptions {
  emptyRow?: "zero" | "nan";
  /** Length that `seq-mean-token-sum-norm` divides by; unset: the matrix's own. */
  paddedLength?: number;
  /** Default: `older`. */
  rule?: AggregationRule;
}

/** From verl 0.9.1 on: nothing is added to the tokens, and rows without one are left out. */
function byNewerRule(
  losses: Tensor,
  mask: Tensor,
  mode: Exclude<LossAggregation, "token-sum">,
  { emptyRow, paddedLength }: Required<Omit<AggregateOptions, "rule">>,
): Tensor {
  const divide = (sum: Tensor, by: Tensor): Tensor =>
    sum.div(emptyRow === "zero" ? tf.maximum(by, 1) : by);
  const masked: Tensor = losses.mul(mask);
  if (mode === "token-mean") return divide(masked.sum(), mask.sum());
  const counts: Tensor = mask.sum(-1);
  const filled = counts.greater(0).cast("float32");
  const sums: Tensor = masked.sum(-1);
  const perRow: Tensor = mode === "seq-mean-token-mean" ? sums.div(counts.add(1e-8)) : sums;
  const mean = divide(perRow.mul(filled).sum(), filled.sum());
  return mode === "seq-mean-token-sum-norm" ? mean.div(paddedLength) : mean;
}

/**
 * Aggregates token losses [rows, tokens] over a mask. A row whose mask is empty contributes 0 to
 * `seq-mean-token-mean`, and a mask without any token gives 0; the reference divides 0 by 0 there, which
 * `emptyRow: "nan"` reproduces.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { aggregateLoss } from "arpo-lab/experimental/learn";
 * import { tf } from "arpo-lab/model";
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
  const { emptyRow = "zero", paddedLength = losses.shape[1]!, rule = "older" } = options;
  if (!lossAggregations.includes(mode)) {
    throw new RangeError(
      `Cannot aggregate a loss: the mode must be one of ${lossAggregations.join(", ")}, got ${String(mode)}`,
    );
  }
  if (!aggregationRules.includes(rule)) {
    throw new RangeError(
      `Cannot aggregate a loss: the rule must be one of ${aggregationRules.join(", ")}, got ${String(rule)}`,
    );
  }
  // Older verl has no such mode; a sum leaves nothing to differ in.
  if (mode === "token-sum") return losses.mul(mask).sum();
  if (rule === "verl-0.9.1") return byNewerRule(losses, mask, mode, { emptyRow, paddedLength });
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
  }
}

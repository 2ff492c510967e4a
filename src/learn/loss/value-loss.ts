import { checkArguments } from "../../arguments/check-arguments.js";
import { evenMaximum, evenMinimum } from "../../tensor/extremum.js";
import { type Tensor, aggregateLoss, maskedTensorMean } from "./aggregate.js";
import type { LossAggregation } from "./aggregation-modes.js";

/**
 * The critic's loss: the larger of the squared errors of the prediction and of the prediction clipped
 * to the old value plus or minus `clipRange`. No factor one half.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { valueLoss } from "arpo-lab/experimental/learn";
 * import { tf } from "arpo-lab/model";
 *
 * const row = (x: number) => tf.fill([1, 1], x);
 * const input = { predictions: row(1), values: row(0), returns: row(1), mask: row(1) };
 * assert.equal(valueLoss(input).loss.dataSync()[0], 0.25);
 * ```
 */
export function valueLoss(
  input: { predictions: Tensor; values: Tensor; returns: Tensor; mask: Tensor },
  {
    clipRange = 0.5,
    aggregation = "token-mean",
    referenceNaN = false,
  }: { clipRange?: number; aggregation?: LossAggregation; referenceNaN?: boolean } = {},
): { loss: Tensor; metrics: { vf_clipfrac: Tensor } } {
  checkArguments(
    "compute a loss",
    { input },
    { input: { predictions: "tensor", values: "tensor", returns: "tensor", mask: "tensor" } },
  );
  const { predictions, values, returns, mask } = input;
  const near = evenMaximum(evenMinimum(predictions, values.add(clipRange)), values.sub(clipRange));
  const unclipped: Tensor = predictions.sub(returns).square();
  const clipped: Tensor = near.sub(returns).square();
  return {
    loss: aggregateLoss(evenMaximum(unclipped, clipped), mask, aggregation, {
      emptyRow: referenceNaN ? "nan" : "zero",
    }),
    metrics: {
      vf_clipfrac: maskedTensorMean(clipped.greater(unclipped).cast("float32"), mask),
    },
  };
}

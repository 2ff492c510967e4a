import { checkArguments } from "../../../../common/options/check-arguments.js";
import {
  checkOptions,
  oneOf,
  type OptionRules,
  positive,
} from "../../../../common/options/check-options.js";
import { withoutMasked } from "../../../tensor/extremum.js";
import { tf } from "../../../tensor/tf.js";
import {
  type AggregationRule,
  aggregationRules,
  type LossAggregation,
  lossAggregations,
} from "./options.js";
import { promptScales } from "./token-rule.js";

export type Tensor = InstanceType<typeof tf.Tensor>;

/** Mean of the masked tokens, with 1e-8 added to their count; differentiable. */
export function maskedTensorMean(values: Tensor, mask: Tensor): Tensor {
  return values.mul(mask).sum().div(mask.sum().add(1e-8));
}

export interface AggregateOptions {
  emptyRow?: "zero" | "nan";
  /** Length that `seq-mean-token-sum-norm` divides by; unset: the matrix's own. */
  paddedLength?: number;
  /** What `prompt-mean` multiplies each row's tokens by; unset: as if every row were a prompt of its own. */
  rowScales?: readonly number[];
  /** Default: `older`. */
  rule?: AggregationRule;
}

const rules: OptionRules<AggregateOptions> = {
  emptyRow: oneOf(["zero", "nan"]),
  paddedLength: positive,
  rowScales: "list?",
  rule: oneOf(aggregationRules),
};

/** How a count is divided by where it may be 0, and the length that a mode divides by. */
interface Divisors {
  some: (count: Tensor) => Tensor;
  paddedLength: number;
  rowScales: Tensor;
}
type Aggregation = (losses: Tensor, mask: Tensor, by: Divisors) => Tensor;

const rowSums = (losses: Tensor, mask: Tensor): Tensor => losses.mul(mask).sum(-1);
const tokenSum: Aggregation = (losses, mask) => losses.mul(mask).sum();

const older: Record<LossAggregation, Aggregation> = {
  "token-mean": maskedTensorMean,
  "token-sum": tokenSum,
  "seq-mean-token-sum": (losses, mask) => rowSums(losses, mask).mean(),
  "seq-mean-token-mean": (losses, mask, { some }) =>
    rowSums(losses, mask)
      .div(some(mask.sum(-1)))
      .mean(),
  "seq-mean-token-sum-norm": (losses, mask, { paddedLength }) =>
    rowSums(losses, mask).sum().div(paddedLength),
  // One arithmetic for all: older verl has no such mode.
  "prompt-mean": (losses, mask, { rowScales }) => rowSums(losses, mask).mul(rowScales).sum(),
};

/** The mean over the sequences that have a token. */
function meanOfFilled(perRow: Tensor, mask: Tensor, { some }: Divisors): Tensor {
  const filled = mask.sum(-1).greater(0).cast("float32");
  return perRow.mul(filled).sum().div(some(filled.sum()));
}

/** From verl 0.9.1 on: nothing is added to the tokens, and sequences without one are left out. */
const newer: Record<LossAggregation, Aggregation> = {
  "token-mean": (losses, mask, { some }) => losses.mul(mask).sum().div(some(mask.sum())),
  // Older verl has no such mode; a sum leaves nothing to differ in.
  "token-sum": tokenSum,
  "seq-mean-token-sum": (losses, mask, by) => meanOfFilled(rowSums(losses, mask), mask, by),
  "seq-mean-token-mean": (losses, mask, by) =>
    meanOfFilled(rowSums(losses, mask).div(mask.sum(-1).add(1e-8)), mask, by),
  "prompt-mean": older["prompt-mean"],
  "seq-mean-token-sum-norm": (losses, mask, by) =>
    meanOfFilled(rowSums(losses, mask), mask, by).div(by.paddedLength),
};

/** TRL's and SkyRL's: every sequence counts, and one without a token has the loss 0. */
const everyRow: Record<LossAggregation, Aggregation> = {
  ...older,
  "token-mean": newer["token-mean"],
  "seq-mean-token-mean": (losses, mask) =>
    rowSums(losses, mask)
      .div(tf.maximum(mask.sum(-1), 1))
      .mean(),
  "seq-mean-token-sum-norm": (losses, mask, { paddedLength }) =>
    rowSums(losses, mask).mean<Tensor>().div(paddedLength),
};

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
  given: Tensor,
  mask: Tensor,
  mode: LossAggregation,
  options: AggregateOptions = {},
): Tensor {
  checkArguments(
    "aggregate a loss",
    { losses: given, mask, mode },
    { losses: "tensor", mask: "tensor", mode: "text" },
  );
  checkOptions("aggregate a loss", options, rules);
  const { emptyRow = "zero", paddedLength = given.shape[1]!, rule = "older" } = options;
  if (!lossAggregations.includes(mode)) {
    throw new RangeError(
      `Cannot aggregate a loss: the mode must be one of ${lossAggregations.join(", ")}, got ${String(mode)}`,
    );
  }
  const some = (count: Tensor): Tensor => (emptyRow === "zero" ? tf.maximum(count, 1) : count);
  const losses = emptyRow === "zero" ? withoutMasked(given, mask) : given;
  const scales = () =>
    tf.tensor1d([
      ...(options.rowScales ??
        promptScales(
          Array.from({ length: mask.shape[0]! }, (_, row) => row),
          Array.from(mask.sum(-1).dataSync()),
        )),
    ]);
  const by = { some, paddedLength, rowScales: mode === "prompt-mean" ? scales() : tf.scalar(1) };
  return { older, "verl-0.9.1": newer, trl: everyRow }[rule][mode](losses, mask, by);
}

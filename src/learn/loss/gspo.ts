import { detached, evenMaximum, tf } from "../../tensor/index.js";
import { type Tensor, aggregateLoss, maskedTensorMean } from "./aggregate.js";
import type { PolicyLoss, PolicyLossInput, PolicyLossOptions } from "./policy-loss.js";

/** Bounds the exponent so that one runaway row cannot overflow. */
const largestLogRatio = 10;

export type GspoOptions = Pick<
  PolicyLossOptions,
  "clipRatio" | "clipRatioLow" | "clipRatioHigh" | "aggregation"
>;

/**
 * GSPO: one importance ratio per row, the geometric mean of its tokens', clipped as a whole; each token
 * of a row then has the same weight.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { gspoLoss } from "arpo-lab/learn";
 * import { detached, evenMaximum, tf } from "arpo-lab/tensor";
 *
 * const logprobs = tf.tensor2d([[-1, -2]]);
 * const ones = tf.ones([1, 2]);
 * const { loss } = gspoLoss({ logprobs, oldLogprobs: logprobs, advantages: ones, mask: ones });
 * assert.equal(loss.dataSync()[0], -1);
 * ```
 */
export function gspoLoss(
  { logprobs, oldLogprobs, advantages, mask }: PolicyLossInput,
  options: GspoOptions = {},
): PolicyLoss {
  const { clipRatio = 0.2, aggregation = "seq-mean-token-mean" } = options;
  const { clipRatioLow = clipRatio, clipRatioHigh = clipRatio } = options;
  const difference: Tensor = logprobs.sub(oldLogprobs);
  const counts = tf.maximum(mask.sum(-1, true), 1);
  const ratio: Tensor = tf.minimum(difference.mul(mask).sum(-1, true).div(counts), largestLogRatio);
  // Forward: the row's ratio on every token. Backward: it moves with the token's own log-probability.
  const perToken: Tensor = logprobs.sub<Tensor>(detached(logprobs)).add(detached(ratio)).exp();
  const unclipped: Tensor = perToken.mul(advantages).neg();
  const clipped: Tensor = perToken
    .clipByValue(1 - clipRatioLow, 1 + clipRatioHigh)
    .mul(advantages)
    .neg();
  return {
    loss: aggregateLoss(evenMaximum(unclipped, clipped), mask, aggregation),
    metrics: {
      pg_clipfrac: maskedTensorMean(clipped.greater(unclipped).cast("float32"), mask),
      ppo_kl: maskedTensorMean(difference.neg(), mask),
      pg_clipfrac_lower: tf.scalar(0),
    },
  };
}

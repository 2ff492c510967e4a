import { checkArguments } from "../../arguments/check-arguments.js";
import { detached } from "../../tensor/detached.js";
import { evenMaximum } from "../../tensor/extremum.js";
import { tf } from "../../tensor/tf.js";
import { type Tensor, maskedTensorMean } from "./aggregate.js";
import { clipBounds } from "./clip-bounds.js";
import { totalOf } from "./loss-parts.js";
import type { PolicyLoss, PolicyLossInput, PolicyLossOptions } from "./policy-loss-types.js";
import { largestLogRatio } from "./token-ratio.js";

export type GspoOptions = Pick<
  PolicyLossOptions,
  | "clipRatio"
  | "clipRatioLow"
  | "clipRatioHigh"
  | "aggregation"
  | "aggregationRule"
  | "paddedLength"
>;

/**
 * GSPO: one importance ratio per row, the geometric mean of its tokens', clipped as a whole; each token
 * of a row then has the same weight.
 */
export function gspoLoss(input: PolicyLossInput, options: GspoOptions = {}): PolicyLoss {
  checkArguments(
    "compute a loss",
    { input, options },
    {
      input: { logprobs: "tensor", oldLogprobs: "tensor", advantages: "tensor", mask: "tensor" },
      options: "object",
    },
  );
  const { logprobs, oldLogprobs, advantages, mask } = input;
  const { low, high } = clipBounds(options);
  const difference: Tensor = logprobs.sub(oldLogprobs);
  const counts = tf.maximum(mask.sum(-1, true), 1);
  const ratio: Tensor = tf.minimum(difference.mul(mask).sum(-1, true).div(counts), largestLogRatio);
  // Forward: the row's ratio on every token. Backward: it moves with the token's own log-probability.
  const perToken: Tensor = logprobs.sub<Tensor>(detached(logprobs)).add(detached(ratio)).exp();
  const unclipped: Tensor = perToken.mul(advantages).neg();
  const clipped: Tensor = perToken.clipByValue(low, high).mul(advantages).neg();
  return {
    loss: totalOf("gspo", evenMaximum(unclipped, clipped), input, options),
    metrics: {
      pg_clipfrac: maskedTensorMean(clipped.greater(unclipped).cast("float32"), mask),
      ppo_kl: maskedTensorMean(difference.neg(), mask),
      pg_clipfrac_lower: tf.scalar(0),
    },
  };
}

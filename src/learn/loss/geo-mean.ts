import { evenMinimum } from "../../tensor/extremum.js";
import { tf } from "../../tensor/tf.js";
import type { Tensor } from "./aggregate.js";
import { clipBounds } from "./clip-bounds.js";
import { figures } from "./loss-parts.js";
import type { PolicyLoss, PolicyLossInput, PolicyLossOptions } from "./policy-loss-types.js";

/** GMPO: a row's loss is its mean advantage times the geometric mean of its clipped ratios. */
export function geoMeanLoss(input: PolicyLossInput, options: PolicyLossOptions = {}): PolicyLoss {
  const { low, high } = clipBounds(options);
  const { logprobs, oldLogprobs, advantages, mask, rolloutWeights } = input;
  const logRatio: Tensor = logprobs.sub(oldLogprobs);
  const within: Tensor = logRatio.clipByValue(low - 1, high - 1);
  const sign: Tensor = tf.sign(advantages);
  const clipped = sign.mul<Tensor>(evenMinimum(sign.mul(logRatio), sign.mul(within)));
  const rowMean = (values: Tensor): Tensor => values.mul(mask).sum(-1).div(mask.sum(-1).add(1e-8));
  const losses: Tensor = rowMean(advantages).mul<Tensor>(rowMean(clipped).exp()).neg();
  const weighed: Tensor = rolloutWeights
    ? losses.mul(rowMean(rolloutWeights.add(1e-10).log()).exp())
    : losses;
  const outside = logRatio.notEqual(within);
  return {
    loss: weighed.mean(),
    metrics: figures(input, logRatio, {
      clipped: outside.logicalAnd(advantages.greater(0)),
      lower: outside.logicalAnd(advantages.less(0)),
    }),
  };
}

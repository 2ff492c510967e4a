import { Random } from "../../random/random.js";
import { detached } from "../../tensor/detached.js";
import { evenMaximum } from "../../tensor/extremum.js";
import { tf } from "../../tensor/tf.js";
import { type Tensor, maskedTensorMean } from "./aggregate.js";
import { clipBounds } from "./clip-bounds.js";
import { greatest, shareOf } from "./covariance.js";
import { figures, totalOf } from "./loss-parts.js";
import { lossParameters } from "./loss-parameters.js";
import type { PolicyLoss, PolicyLossInput, PolicyLossOptions } from "./policy-loss-types.js";

/** A draw per token, for a loss that takes some of them at random. */
export function drawsOf(random: Random, tokens: number): Tensor {
  return tf.tensor1d(Array.from({ length: tokens }, () => random.uniform()));
}

/**
 * Clip-Cov: PPO's clip; and of the unclipped tokens whose advantage and log-probability vary together
 * more than others', some drawn at random lose their gradient.
 */
export function clipCovLoss(input: PolicyLossInput, options: PolicyLossOptions = {}): PolicyLoss {
  const { low, high } = clipBounds(options);
  const { clipCovRatio, clipCovLow, clipCovHigh } = lossParameters(options);
  const { logprobs, oldLogprobs, advantages, mask } = input;
  const { draws = drawsOf(Random.from(0), mask.size) } = input;
  const logRatio: Tensor = logprobs.sub(oldLogprobs);
  const ratio: Tensor = logRatio.exp();
  const unclipped: Tensor = ratio.mul(advantages).neg();
  const clipped: Tensor = ratio.clipByValue(low, high).mul(advantages).neg();

  const now = detached(logprobs);
  const covariance: Tensor = advantages
    .sub(maskedTensorMean(advantages, mask))
    .mul(now.sub(maskedTensorMean(now, mask)));
  const candidates = mask
    .greater(0)
    .logicalAnd(detached(clipped).lessEqual(detached(unclipped)))
    .logicalAnd(covariance.greater(clipCovLow))
    .logicalAnd(covariance.less(clipCovHigh));
  // The nth candidate, row by row, has the nth draw.
  const place = candidates.cast("int32").reshape([-1]).cumsum().sub(1);
  const keys: Tensor = draws.gather<Tensor>(tf.maximum(place, 0).cast("int32")).reshape(mask.shape);
  const chosen = greatest(keys, candidates, shareOf(mask.sum(), clipCovRatio));
  const losses: Tensor = evenMaximum(unclipped, clipped).mul(tf.sub<Tensor>(1, chosen));
  return {
    loss: totalOf("clip_cov", losses, input, options),
    metrics: figures(input, logRatio, { clipped: chosen.greater(0) }),
    chosen,
  };
}

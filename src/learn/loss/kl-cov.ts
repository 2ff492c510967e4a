import { detached } from "../../tensor/detached.js";
import { evenMaximum } from "../../tensor/extremum.js";
import { tf } from "../../tensor/tf.js";
import { type Tensor, maskedTensorMean } from "./aggregate.js";
import { greatest, shareOf } from "./covariance.js";
import { figures, totalOf } from "./loss-parts.js";
import { lossParameters } from "./loss-parameters.js";
import type { PolicyLoss, PolicyLossInput, PolicyLossOptions } from "./policy-loss-types.js";

/**
 * KL-Cov: no clip; the tokens whose advantage and log-probability vary together the most are held where
 * they were by the size of their log ratio.
 */
export function klCovLoss(input: PolicyLossInput, options: PolicyLossOptions = {}): PolicyLoss {
  const { klCovRatio, klCovCoefficient } = lossParameters(options);
  const { logprobs, oldLogprobs, advantages, mask } = input;
  const logRatio: Tensor = logprobs.sub(oldLogprobs);
  const count: Tensor = mask.sum();
  const centred = (values: Tensor): Tensor =>
    values.sub(values.mul(mask).sum().div(tf.maximum(count, 1)));
  const covariance: Tensor = centred(advantages).mul(centred(detached(logprobs)));
  const chosen =
    klCovRatio === 0
      ? tf.zerosLike(mask)
      : greatest(covariance, mask.greater(0), shareOf(count, klCovRatio));
  // By a maximum: where the ratio is 1 the gradient is 0, as in PyTorch.
  const size = evenMaximum(logRatio, logRatio.neg());
  const held: Tensor = size.mul<Tensor>(chosen).mul(klCovCoefficient);
  const losses: Tensor = held.sub(logRatio.exp().mul(advantages));
  return {
    loss: totalOf("kl_cov", losses, input, options),
    metrics: { ...figures(input, logRatio), ppo_kl: maskedTensorMean(size, mask) },
    chosen,
  };
}

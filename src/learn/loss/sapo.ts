import { tf } from "../../tensor/tf.js";
import type { Tensor } from "./aggregate.js";
import { boundedLogRatio, figures, totalOf } from "./loss-parts.js";
import { lossParameters } from "./loss-parameters.js";
import type { PolicyLoss, PolicyLossInput, PolicyLossOptions } from "./policy-loss-types.js";

/** SAPO: a sigmoid of the ratio in place of a clip, steeper where the advantage is not positive. */
export function sapoLoss(input: PolicyLossInput, options: PolicyLossOptions = {}): PolicyLoss {
  const { tauPositive, tauNegative } = lossParameters(options);
  const { advantages } = input;
  const logRatio = boundedLogRatio(input);
  const tau: Tensor = tf.where(
    advantages.greater(0),
    tf.onesLike(advantages).mul(tauPositive),
    tf.onesLike(advantages).mul(tauNegative),
  );
  const gate: Tensor = logRatio.exp().sub(1).mul<Tensor>(tau).sigmoid().mul(4).div(tau);
  return {
    loss: totalOf("sapo", gate.mul<Tensor>(advantages).neg(), input, options),
    metrics: figures(input, logRatio),
  };
}

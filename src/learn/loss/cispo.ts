import { detached } from "../../tensor/detached.js";
import type { Tensor } from "./aggregate.js";
import { clipBounds } from "./clip-bounds.js";
import { boundedLogRatio, figures, totalOf } from "./loss-parts.js";
import type { PolicyLoss, PolicyLossInput, PolicyLossOptions } from "./policy-loss-types.js";

/** CISPO: the clipped ratio weighs a token and has no gradient itself, so that no token loses its own. */
export function cispoLoss(input: PolicyLossInput, options: PolicyLossOptions = {}): PolicyLoss {
  const { low, high } = clipBounds(options);
  const logRatio = boundedLogRatio(input);
  const ratio: Tensor = logRatio.exp();
  const weight: Tensor = detached(ratio.clipByValue(low, high));
  const losses: Tensor = weight.mul(input.advantages).mul(input.logprobs).neg();
  return {
    loss: totalOf("cispo", losses, input, options),
    metrics: figures(input, logRatio, { clipped: ratio.notEqual(weight) }),
  };
}

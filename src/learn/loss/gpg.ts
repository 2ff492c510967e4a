import type { Tensor } from "./aggregate.js";
import { figures, totalOf } from "./loss-parts.js";
import type { PolicyLoss, PolicyLossInput, PolicyLossOptions } from "./policy-loss-types.js";

/** GPG: the plain policy gradient, without a ratio. */
export function gpgLoss(input: PolicyLossInput, options: PolicyLossOptions = {}): PolicyLoss {
  const { logprobs, oldLogprobs, advantages } = input;
  const losses: Tensor = logprobs.mul(advantages).neg();
  return {
    loss: totalOf("gpg", losses, input, options),
    metrics: figures(input, logprobs.sub(oldLogprobs)),
  };
}

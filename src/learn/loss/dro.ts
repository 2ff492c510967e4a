import type { Tensor } from "./aggregate.js";
import { figures, totalOf } from "./loss-parts.js";
import type { PolicyLoss, PolicyLossInput, PolicyLossOptions } from "./policy-loss-types.js";

/** The weight that DRO needs and has no default for. */
export function droBetaOf({ droBeta }: PolicyLossOptions): number {
  if (droBeta === undefined || !(droBeta > 0 && droBeta < Infinity)) {
    throw new RangeError(
      `Cannot compute the loss dro: droBeta must be a number above 0, got ${String(droBeta)}`,
    );
  }
  return droBeta;
}

/** DRO: the plain policy gradient, held near the old policy by the square of the log ratio. */
export function droLoss(input: PolicyLossInput, options: PolicyLossOptions = {}): PolicyLoss {
  const beta = droBetaOf(options);
  const { logprobs, oldLogprobs, advantages } = input;
  const logRatio: Tensor = logprobs.sub(oldLogprobs);
  const losses: Tensor = logRatio
    .square()
    .mul(beta / 2)
    .sub(logprobs.mul(advantages));
  return {
    loss: totalOf("dro", losses, input, options),
    metrics: figures(input, logRatio),
  };
}

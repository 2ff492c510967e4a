import { detached } from "../../tensor/detached.js";
import { tf } from "../../tensor/tf.js";
import { type Tensor, aggregateLoss, maskedTensorMean } from "./aggregate.js";
import { aggregationOf } from "./aggregation-choice.js";
import type { LossName } from "./loss-names.js";
import {
  type PolicyLoss,
  type PolicyLossInput,
  type PolicyLossOptions,
  aggregateOptions,
} from "./policy-loss-types.js";
import { widestLogRatio } from "./turn-numbers.js";

/** ln of the ratio, bounded so that it cannot overflow. */
export function boundedLogRatio({ logprobs, oldLogprobs }: PolicyLossInput): Tensor {
  return logprobs.sub<Tensor>(oldLogprobs).clipByValue(-widestLogRatio, widestLogRatio);
}

/** The value of x with the gradient of its logarithm's source: x / sg[x], times what is given. */
export function withValue(value: Tensor, moving: Tensor): Tensor {
  return moving.div<Tensor>(detached(moving)).mul(detached(value));
}

/** Token losses under a rollout correction's weights, aggregated as the named loss is. */
export function totalOf(
  loss: LossName,
  losses: Tensor,
  { mask, rolloutWeights }: PolicyLossInput,
  options: PolicyLossOptions,
): Tensor {
  const weighed: Tensor = rolloutWeights ? losses.mul(rolloutWeights) : losses;
  const { mode, rule } = aggregationOf({ ...options, loss });
  return aggregateLoss(weighed, mask, mode, { ...aggregateOptions(options), rule });
}

/** The figures that every loss reports: shares of the tokens, and how far the policy moved. */
export function figures(
  { mask }: PolicyLossInput,
  logRatio: Tensor,
  { clipped, lower }: { clipped?: Tensor; lower?: Tensor } = {},
): PolicyLoss["metrics"] {
  const share = (condition: Tensor | undefined): Tensor =>
    condition ? maskedTensorMean(condition.cast("float32"), mask) : tf.scalar(0);
  return {
    pg_clipfrac: share(clipped),
    ppo_kl: maskedTensorMean(logRatio.neg(), mask),
    pg_clipfrac_lower: share(lower),
  };
}

import { checkArguments } from "../../arguments/check-arguments.js";
import { detached } from "../../tensor/detached.js";
import { either, evenMaximum, evenMinimum } from "../../tensor/extremum.js";
import { tf } from "../../tensor/tf.js";
import { type Tensor, maskedTensorMean } from "./aggregate.js";
import { clipBounds } from "./clip-bounds.js";
import { entropyAwareAdvantage } from "./entropy-advantage.js";
import { totalOf } from "./loss-parts.js";
import type { PolicyLoss, PolicyLossInput, PolicyLossOptions } from "./policy-loss-types.js";

/** The token losses before they are masked and aggregated, with the two candidates they came from. */
interface TokenLosses {
  losses: Tensor;
  ratio: Tensor;
  unclipped: Tensor;
  clipped: Tensor;
  /** Advantages as used, after entropy-awareness. */
  advantages: Tensor;
}

/** Token losses of PPO with dual clip, or of AEPO with entropy-balanced clipping. */
function tokenPolicyLosses(input: PolicyLossInput, options: PolicyLossOptions = {}): TokenLosses {
  const { logprobs, oldLogprobs, mask, entropies } = input;
  const { low, high, c } = clipBounds(options);
  const advantages =
    options.entropyBalancedAdvantage && entropies
      ? entropyAwareAdvantage(input.advantages, entropies, mask, {
          singleToken: options.referenceNaN ? "nan" : "one",
        })
      : input.advantages;
  const ratio: Tensor = logprobs.sub(oldLogprobs).exp();
  // AEPO's upper bound has the value of PPO's and, where it holds, the gradient (1 + high) grad logp.
  const inBounds: Tensor = options.entropyBalancedClipping
    ? tf.minimum(tf.maximum(ratio, low), tf.div<Tensor>(high, detached(ratio)).mul(ratio))
    : ratio.clipByValue(low, high);
  const unclipped: Tensor = ratio.mul(advantages).neg();
  const clipped: Tensor = inBounds.mul(advantages).neg();
  const worse = evenMaximum(unclipped, clipped);
  const dual = evenMinimum(advantages.mul(-c), worse);
  const losses = either(advantages.less(0), dual, worse);
  return { losses, ratio, unclipped, clipped, advantages };
}

/** The policy loss: PPO with dual clip, and with AEPO's two switches. ARPO and GRPO use it as it is. */
export function policyLoss(input: PolicyLossInput, options: PolicyLossOptions = {}): PolicyLoss {
  checkArguments(
    "compute a loss",
    { input, options },
    {
      input: { logprobs: "tensor", oldLogprobs: "tensor", advantages: "tensor", mask: "tensor" },
      options: "object",
    },
  );
  const { logprobs, oldLogprobs, mask } = input;
  const { losses, unclipped, clipped, advantages } = tokenPolicyLosses(input, options);
  const { c } = clipBounds(options);
  const share = (condition: Tensor) => maskedTensorMean(condition.cast("float32"), mask);
  const worse = tf.maximum(unclipped, clipped);
  const cutBelow = worse.greater(advantages.mul(-c)).logicalAnd(advantages.less(0));
  return {
    loss: totalOf("vanilla", losses, input, options),
    metrics: {
      pg_clipfrac: share(clipped.greater(unclipped)),
      ppo_kl: maskedTensorMean(oldLogprobs.sub(logprobs), mask),
      pg_clipfrac_lower: share(cutBelow),
    },
  };
}

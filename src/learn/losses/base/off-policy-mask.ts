import type { Tensor } from "./aggregate.js";
import type { PolicyLossInput, TensorOps } from "./tensor-ops.js";
import type { LossRow } from "./token-rule.js";

// DeepSeek-V3.2's mask: what was pushed down too far already is not pushed down further.

/**
 * The advantages, with 0 where a negative one stands in a trajectory that has become less likely than at its sampler by
 * more than the threshold, a mean of log ratios per token.
 */
export function unmaskedAdvantages(
  input: PolicyLossInput,
  threshold: number,
  { tf, detached }: Pick<TensorOps, "tf" | "detached">,
): Tensor {
  const { advantages, logprobs, oldLogprobs, sampledLogprobs = oldLogprobs, mask } = input;
  const fallen: Tensor = sampledLogprobs.sub<Tensor>(detached(logprobs)).mul(mask);
  const mean: Tensor = fallen.sum(-1, true).div(tf.maximum(mask.sum(-1, true), 1));
  const left = advantages.less(0).logicalAnd(mean.greater(threshold));
  return tf.where(left, tf.zerosLike(advantages), advantages);
}

/** The same of a sequence in plain numbers. */
export function unmaskedRow(row: LossRow, threshold: number): LossRow {
  const { advantages, logprobs, oldLogprobs, sampledLogprobs = oldLogprobs, mask } = row;
  let [sum, count] = [0, 0];
  for (let t = 0; t < mask.length; t++) {
    if (!mask[t]) continue;
    sum += sampledLogprobs[t]! - logprobs[t]!;
    count++;
  }
  if (sum / Math.max(1, count) <= threshold) return row;
  return { ...row, advantages: Array.from(advantages, (a) => (a < 0 ? 0 : a)) };
}

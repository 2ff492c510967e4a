import { either, evenMinimum } from "../../tensor/extremum.js";
import { tf } from "../../tensor/tf.js";
import type { Tensor } from "./aggregate.js";
import { clipBounds } from "./clip-bounds.js";
import { figures, totalOf, withValue } from "./loss-parts.js";
import { lossParameters } from "./loss-parameters.js";
import type { PolicyLoss, PolicyLossInput, PolicyLossOptions } from "./policy-loss-types.js";

/** CE-GPPO: beyond the bounds a token keeps a share of the bound's own gradient, on either side. */
export function ceGppoLoss(input: PolicyLossInput, options: PolicyLossOptions = {}): PolicyLoss {
  const { low, high, c } = clipBounds(options);
  const { gppoLow, gppoHigh } = lossParameters(options);
  const { logprobs, oldLogprobs, advantages } = input;
  const logRatio: Tensor = logprobs.sub(oldLogprobs);
  const ratio: Tensor = logRatio.exp();
  const below = ratio.less(low).logicalAnd(advantages.less(0));
  const above = ratio.greater(high).logicalAnd(advantages.greater(0));
  const kept = (weight: number) => withValue(tf.onesLike(ratio).mul(weight), ratio);
  const weight = either(below, kept(gppoLow * low), either(above, kept(gppoHigh * high), ratio));
  const plain: Tensor = weight.mul(advantages).neg();
  const cap: Tensor = advantages.mul(-c);
  const losses = either(advantages.less(0), evenMinimum(plain, cap), plain);
  return {
    loss: totalOf("ce_gppo", losses, input, options),
    metrics: figures(input, logRatio, {
      clipped: below.logicalOr(above),
      lower: plain.greater(cap).logicalAnd(advantages.less(0)),
    }),
  };
}

import { detached } from "../../tensor/detached.js";
import { either, evenMaximum, evenMinimum } from "../../tensor/extremum.js";
import { tf } from "../../tensor/tf.js";
import { type Tensor, maskedTensorMean } from "./aggregate.js";
import { clipBounds } from "./clip-bounds.js";
import { largestFutureFactor, safeFactor } from "./future-factor.js";
import { boundedLogRatio, figures, totalOf } from "./loss-parts.js";
import { lossParameters } from "./loss-parameters.js";
import type { PolicyLoss, PolicyLossInput, PolicyLossOptions } from "./policy-loss-types.js";

/** For every place the sum of what stands there and later, each place further counting `decay` less. */
function decayedSum(values: Tensor, decay: number): Tensor {
  const time = values.shape[1]!;
  let sum = values;
  // Doubling: after n rounds each place holds the sum of the 2^n places from it on.
  for (let reach = 1; reach < time; reach *= 2) {
    const later = sum.slice([0, reach]).pad([
      [0, 0],
      [0, reach],
    ]);
    sum = sum.add(later.mul(decay ** reach));
  }
  return sum;
}

/** APPO's factors: how much likelier what follows a token has become, clipped; and as they were before. */
function futureFactors(input: PolicyLossInput, options: PolicyLossOptions, logRatio: Tensor) {
  const { futureDecay, futureClip, futureHighOnly, futureSafety } = lossParameters(options);
  const { c } = clipBounds(options);
  const { advantages, mask } = input;
  const near = logRatio.lessEqual(Math.log(c)).cast("float32");
  const raw: Tensor = decayedSum(
    logRatio.mul<Tensor>(mask).mul(near),
    2 ** (-1 / futureDecay),
  ).exp();
  const high = futureClip === 0 ? largestFutureFactor : 1 + futureClip;
  const low = futureClip === 0 ? 0 : futureHighOnly ? 1 : 1 - futureClip;
  const bounded: Tensor = raw.clipByValue(low, high);
  const unsafe = advantages.less(0).logicalAnd(logRatio.exp().greater(futureSafety));
  const factor: Tensor = tf.where(
    unsafe,
    bounded.clipByValue(safeFactor.low, safeFactor.high),
    bounded,
  );
  return { raw, factor, low, high, clips: futureClip > 0 };
}

/**
 * APPO's loss: PPO with dual clip on advantages that grow with how much likelier the tokens to come have
 * become. A row of which the dual clip cuts more than one token takes no part.
 */
export function futureKlLoss(input: PolicyLossInput, options: PolicyLossOptions = {}): PolicyLoss {
  const { low, high, c } = clipBounds(options);
  const { futureWeight } = lossParameters(options);
  const { mask } = input;
  const logRatio = boundedLogRatio(input);
  const future = futureFactors(input, options, detached(logRatio));
  const advantages: Tensor = future.factor.mul(futureWeight).add(1).mul(input.advantages);
  const ratio: Tensor = logRatio.exp();
  const unclipped: Tensor = ratio.mul(advantages).neg();
  const clipped: Tensor = ratio.clipByValue(low, high).mul(advantages).neg();
  const worse = evenMaximum(unclipped, clipped);
  const cap: Tensor = advantages.mul(-c);
  const losses = either(advantages.less(0), evenMinimum(cap, worse), worse);
  const cut = detached(worse).greater(cap).logicalAnd(advantages.less(0)).cast("float32");
  const kept: Tensor = cut.mul(mask).sum(-1, true).lessEqual(1).cast("float32");
  const left: Tensor = mask.mul(kept);
  return {
    loss: totalOf("future_kl", losses, { ...input, mask: left }, options),
    metrics: {
      ...figures(input, logRatio, { clipped: clipped.greater(unclipped), lower: cut }),
      ...factorFigures(future, mask, futureWeight),
    },
  };
}

/** The figures of the factors, by the names APPO's code gives them. */
function factorFigures(
  { raw, factor, low, high, clips }: ReturnType<typeof futureFactors>,
  mask: Tensor,
  weight: number,
): Record<string, Tensor> {
  const out = (name: string, values: Tensor) => {
    const far = tf.onesLike(values).mul(1e30);
    return {
      [`fipo_iw_${name}mean`]: maskedTensorMean(values, mask),
      [`fipo_iw_${name}min`]: tf.where(mask.greater(0), values, far).min(),
      [`fipo_iw_${name}max`]: tf.where(mask.greater(0), values, far.neg()).max(),
    };
  };
  const share = (condition: Tensor) => maskedTensorMean(condition.cast("float32"), mask);
  // Without a clip nothing counts as clipped, the bound of 10 neither.
  const atHigh = factor.greaterEqual(clips ? high : Infinity);
  const atLow = factor.lessEqual(clips ? low : -Infinity);
  return {
    ...out("", factor),
    ...out("raw_", raw),
    // At a bound, whatever brought the factor there.
    fipo_iw_clip_upper: share(atHigh),
    fipo_iw_clip_lower: share(atLow),
    fipo_iw_clip_total: share(atHigh.logicalOr(atLow)),
    fipo_iw_weight: tf.scalar(weight),
  };
}

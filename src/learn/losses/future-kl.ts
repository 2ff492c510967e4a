import { finite, notNegative, positive, valuesOf } from "../../../common/options/check-options.js";
import { key, option } from "../../../common/options/option-table.js";
import type { Tensor } from "./base/aggregate.js";
import { defineLoss, type LossOps, type SettingsOf } from "./base/definition.js";
import * as f from "./base/formula.js";
import { clipBounds, policyLoss } from "./base/options.js";
import type { PolicyLossInput } from "./base/tensor-ops.js";
import {
  clamp,
  dualClippedOutcome,
  type LossRow,
  perRow,
  widestLogRatio,
} from "./base/token-rule.js";

export const futureKlOptions = {
  /** Future-KL: tokens until a later log ratio counts half. Default: 128. */
  futureDecay: option(
    positive,
    128,
    key(`${policyLoss}.decay_rate`, "future_kl: tokens until a later log ratio counts half"),
  ),
  /** Future-KL: how far a token's factor may be from 1; 0: only bounded by 10. Default: 0.2. */
  futureClip: option(
    notNegative,
    0.2,
    key(
      `${policyLoss}.future_kl_clip_ratio`,
      "future_kl: how far a factor may be from 1; 0: bounded by 10 alone",
    ),
  ),
  /** Future-KL: factors below 1 are 1. Default: false. */
  futureHighOnly: option(
    valuesOf<boolean>("boolean?"),
    false,
    key(`${policyLoss}.future_kl_clip_high_only`, "future_kl: no factor below 1"),
  ),
  /** Future-KL: the weight of the factor beside the advantage itself. Default: 1. */
  futureWeight: option(
    finite,
    1,
    key(`${policyLoss}.future_kl_weight`, "future_kl: weight of the factor"),
  ),
  /** Future-KL: beyond this ratio a negative advantage gets a factor of 0.8 to 1. Default: 4. */
  futureSafety: option(
    positive,
    4,
    key(
      `${policyLoss}.safety_thresh`,
      "future_kl: beyond this ratio a negative advantage gets at most 1",
    ),
  ),
};
type Settings = SettingsOf<typeof futureKlOptions>;

/** What a factor may be at most where no clip is set. */
const largestFactor = 10;
/** Its bounds where a token with a negative advantage has become much more likely. */
const safe = { low: 0.8, high: 1 } as const;

/** What the settings say of the factors: how fast they decay, and between what they stay. */
function factorBounds(options: Settings) {
  const { futureDecay, futureClip, futureHighOnly, futureSafety } = options;
  const clips = futureClip > 0;
  const high = futureClip === 0 ? largestFactor : 1 + futureClip;
  const low = futureClip === 0 ? 0 : futureHighOnly ? 1 : 1 - futureClip;
  return { decay: 2 ** (-1 / futureDecay), low, high, clips, futureSafety };
}

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

/** APPO's factors: how much more likely what follows a token has become, clipped; and as they were before. */
function futureFactors(
  { advantages, mask }: PolicyLossInput,
  options: Settings,
  logRatio: Tensor,
  { tf }: LossOps,
) {
  const { decay, low, high, clips, futureSafety } = factorBounds(options);
  const { c } = clipBounds(options);
  const near = logRatio.lessEqual(Math.log(c)).cast("float32");
  const raw: Tensor = decayedSum(logRatio.mul<Tensor>(mask).mul(near), decay).exp();
  const bounded: Tensor = raw.clipByValue(low, high);
  const unsafe = advantages.less(0).logicalAnd(logRatio.exp().greater(futureSafety));
  const factor: Tensor = tf.where(unsafe, bounded.clipByValue(safe.low, safe.high), bounded);
  return { raw, factor, low, high, clips };
}

/** The figures of the factors, by the names APPO's code gives them. */
function factorFigures(
  { raw, factor, low, high, clips }: ReturnType<typeof futureFactors>,
  mask: Tensor,
  weight: number,
  { tf, maskedTensorMean }: LossOps,
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

/** A sequence's factors, from its end: what follows a token counts the less the later it is. */
function futureOf(row: LossRow, options: Settings) {
  const { decay, low, high, futureSafety } = factorBounds(options);
  const { futureWeight } = options;
  const { c } = clipBounds(options);
  const { logprobs, oldLogprobs, advantages, mask } = row;
  const factors = new Float64Array(mask.length);
  let [sum, cut] = [0, 0];
  for (let t = mask.length - 1; t >= 0; t--) {
    const log = clamp(logprobs[t]! - oldLogprobs[t]!, -widestLogRatio, widestLogRatio);
    sum = sum * decay + (mask[t] && log <= Math.log(c) ? log : 0);
    const factor = clamp(Math.exp(sum), low, high);
    const unsafe = advantages[t]! < 0 && Math.exp(log) > futureSafety;
    factors[t] = unsafe ? clamp(factor, safe.low, safe.high) : factor;
    const used = advantages[t]! * (1 + futureWeight * factors[t]!);
    if (mask[t] && dualClippedOutcome(Math.exp(log), used, options).region === "dual") cut++;
  }
  return { factors, dropped: Number(cut > 1) };
}

/**
 * APPO's loss: PPO with dual clip on advantages that grow with how much more likely the tokens to come have
 * become. A sequence of which the dual clip cuts more than one token takes no part.
 */
export const futureKl = defineLoss({
  name: "future_kl",
  title: "APPO's future KL",
  aggregation: "token-mean",
  rule: "older",
  clips: "ratio",
  readsC: true,
  options: futureKlOptions,
  presets: {
    appo: {
      clipRatioLow: 0.2,
      clipRatioHigh: 0.28,
      clipRatioC: 3,
      futureDecay: 64,
      futureClip: 0.2,
      futureHighOnly: true,
      futureWeight: 1,
      futureSafety: 6,
    },
  },
  views: {
    "future-kl": {
      label: "APPO's future",
      summary:
        "A token counts for more when what follows it has become more likely; only the loss of APPO.",
      preset: "appo",
    },
  },

  tensors(input, options, ops) {
    const { detached, evenMaximum, evenMinimum, either } = ops;
    const { low, high, c } = clipBounds(options);
    const { futureWeight } = options;
    const { mask } = input;
    const logRatio = ops.boundedLogRatio(input);
    const future = futureFactors(input, options, detached(logRatio), ops);
    const advantages: Tensor = future.factor.mul(futureWeight).add(1).mul(input.advantages);
    const ratio: Tensor = logRatio.exp();
    const unclipped: Tensor = ratio.mul(advantages).neg();
    const clipped: Tensor = ops.clip(ratio, low, high).mul(advantages).neg();
    const worse = evenMaximum(unclipped, clipped);
    const cap: Tensor = advantages.mul(-c);
    const losses = either(advantages.less(0), evenMinimum(cap, worse), worse);
    const cut = detached(worse).greater(cap).logicalAnd(advantages.less(0)).cast("float32");
    const kept: Tensor = cut.mul(mask).sum(-1, true).lessEqual(1).cast("float32");
    return {
      loss: ops.total(losses, { mask: mask.mul(kept) }),
      metrics: {
        ...ops.figures(input, logRatio, { clipped: clipped.greater(unclipped), lower: cut }),
        ...factorFigures(future, mask, futureWeight, ops),
      },
    };
  },

  share(rows, options) {
    const found = perRow(rows, (row) => futureOf(row, options));
    return (r, t) => ({ future: found(r).factors[t]!, dropped: found(r).dropped });
  },
  token({ ratio, advantage }, { future = 1, dropped = 0 }, options) {
    const { futureWeight } = options;
    const factor = 1 + futureWeight * future;
    const outcome = dualClippedOutcome(ratio, advantage * factor, options);
    const told = { ...outcome, terms: { ...outcome.terms, futureWeight, factor } };
    return dropped ? { ...told, region: "dropped", weight: 0, loss: 0 } : told;
  },

  formula() {
    const future = f.symbol("future", f.sub(f.mi("f"), f.mi("t")));
    const weight = f.symbol("futureWeight", f.mi("b"));
    const sum = f.row(
      "<munder><mo>∑</mo><mrow><mi>k</mi><mo>≥</mo><mi>t</mi></mrow></munder>",
      "<msup><mi>g</mi><mrow><mi>k</mi><mo>−</mo><mi>t</mi></mrow></msup>",
      f.row(f.mi("ln"), f.sub(f.mi("r"), f.mi("k"))),
    );
    const factor = f.row(f.mo("("), f.mn(1), f.plus, weight, future, f.mo(")"));
    return [
      f.line(
        "Future: how much more likely what follows the token has become, clipped",
        f.math(future, f.equals, f.call("clip", f.call("exp", sum))),
        ...["decayedSum.sum", "futureFactors.bounded"],
      ),
      f.line(
        "Advantage as used: at a factor of 1 about twice the one given",
        f.math(f.used, f.equals, f.given, factor),
        "futureKl.tensors.advantages",
      ),
      f.tokenRatio("boundedLogRatio.return"),
      f.clipLine("futureKl.tensors.clipped"),
      ...f.dualLines(f.used, ["futureKl.tensors.worse"], "futureKl.tensors.losses"),
    ];
  },
  gradient: { code: ["clippedOutcome.return", "futureKl.token.return"], ownAdvantage: () => true },
});

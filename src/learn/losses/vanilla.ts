import type { Tensor } from "./base/aggregate.js";
import { defineLoss } from "./base/definition.js";
import * as f from "./base/formula.js";
import { clipBounds } from "./base/options.js";
import { dualClippedOutcome, trainedOf } from "./base/token-rule.js";

/** PPO with dual clip, as GRPO and ARPO use it, and AEPO's two switches. */
export const vanilla = defineLoss({
  name: "vanilla",
  title: "PPO with dual clip",
  aggregation: "token-mean",
  rule: "older",
  clips: "ratio",
  readsC: true,
  verl: true,
  presets: {
    ppo: {},
    dapo: { clipRatioLow: 0.2, clipRatioHigh: 0.28, aggregation: "token-mean" },
    "dr-grpo": { aggregation: "seq-mean-token-sum-norm" },
  },

  tensors(input, options, ops) {
    const { tf, detached, either, evenMaximum, evenMinimum, maskedTensorMean } = ops;
    const { mask, entropies } = input;
    const { low, high, c } = clipBounds(options);
    const advantages =
      options.entropyBalancedAdvantage && entropies
        ? ops.entropyAwareAdvantage(input.advantages, entropies, mask, {
            singleToken: options.referenceNaN ? "nan" : "one",
          })
        : input.advantages;
    const logRatio = ops.boundedLogRatio(input);
    const ratio: Tensor = logRatio.exp();
    // AEPO's upper bound has the value of PPO's and, where it holds, the gradient (1 + high) grad logp.
    const balanced = () =>
      tf.minimum<Tensor>(tf.maximum(ratio, low), tf.div<Tensor>(high, detached(ratio)).mul(ratio));
    const inBounds = options.entropyBalancedClipping ? balanced() : ops.clip(ratio, low, high);
    const unclipped: Tensor = ratio.mul(advantages).neg();
    const clipped: Tensor = inBounds.mul(advantages).neg();
    const worse = evenMaximum(unclipped, clipped);
    const dual = evenMinimum(advantages.mul(-c), worse);
    const losses = either(advantages.less(0), dual, worse);
    const share = (condition: Tensor) => maskedTensorMean(condition.cast("float32"), mask);
    const cutBelow = tf.maximum(unclipped, clipped).greater(advantages.mul(-c));
    return {
      loss: ops.total(losses),
      metrics: {
        pg_clipfrac: share(clipped.greater(unclipped)),
        ppo_kl: maskedTensorMean(logRatio.neg(), mask),
        pg_clipfrac_lower: share(cutBelow.logicalAnd(advantages.less(0))),
      },
    };
  },

  share(rows, { entropyBalancedAdvantage }) {
    const known = rows.every((row) => row.entropies !== undefined);
    if (!entropyBalancedAdvantage || !known) return () => ({ z: 0, factor: 1 });
    const all = trainedOf(rows, (row) => row.entropies!).filter((h) => !Number.isNaN(h));
    const mean = all.reduce((sum, h) => sum + h, 0) / Math.max(1, all.length);
    const squares = all.reduce((sum, h) => sum + (h - mean) ** 2, 0);
    const deviation = Math.sqrt(squares / Math.max(1, all.length - 1)) || 1;
    return (r, t) => {
      const entropy = rows[r]!.entropies![t]!;
      // An end token put by the rules was not sampled: it is neither certain nor uncertain.
      const z = Number.isNaN(entropy) ? 0 : (entropy - mean) / deviation;
      return { z, factor: 1 + 0.2 * z, entropyMean: mean, entropyDeviation: deviation };
    };
  },

  token({ ratio, advantage }, { factor = 1 }, options) {
    const outcome = dualClippedOutcome(ratio, advantage * factor, options);
    if (outcome.region !== "above" || !options.entropyBalancedClipping) return outcome;
    return { ...outcome, weight: clipBounds(options).high };
  },

  formula({ entropyBalancedAdvantage: aware = false, entropyBalancedClipping }) {
    const entropy = f.symbol("entropy", f.sub(f.mi("H"), f.mi("t")));
    const mean = f.symbol("entropyMean", f.call("mean", f.mi("H")));
    const deviation = f.symbol("entropyDeviation", f.call("sd", f.mi("H")));
    const z = f.frac(f.row(entropy, f.minus, mean), deviation);
    const factor = f.row(f.mo("("), f.mn(1), f.plus, f.mn(0.2), z, f.mo(")"));
    const bound = f.row(f.frac(f.ratio, f.stopped(f.ratio)), f.times, f.mo("("), f.high, f.mo(")"));
    const upper = f.call("max", f.ratio, f.low);
    return [
      ...(aware
        ? [
            f.line(
              "Entropy-aware advantage: uncertain tokens count for more",
              f.math(f.used, f.equals, f.given, factor),
              ...["entropyAwareAdvantage.centred", "entropyAwareAdvantage.return"],
            ),
          ]
        : []),
      f.tokenRatio("vanilla.tensors.ratio"),
      entropyBalancedClipping
        ? f.line(
            "Entropy-balanced clipping: the upper bound keeps a gradient",
            f.math(f.bounded, f.equals, f.call("min", upper, bound)),
            "vanilla.tensors.balanced",
          )
        : f.clipLine("vanilla.tensors.inBounds"),
      ...f.dualLines(
        aware ? f.used : f.given,
        ["vanilla.tensors.unclipped", "vanilla.tensors.clipped", "vanilla.tensors.worse"],
        "vanilla.tensors.dual",
      ),
    ];
  },
  gradient: {
    code: ["clippedOutcome.return", "vanilla.token.return"],
    ownAdvantage: ({ entropyBalancedAdvantage }) => entropyBalancedAdvantage === true,
  },
});

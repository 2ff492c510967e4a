import type { Tensor } from "./base/aggregate.js";
import { defineLoss } from "./base/definition.js";
import * as f from "./base/formula.js";
import { clipBounds } from "./base/options.js";
import { clamp } from "./base/token-rule.js";

/** CISPO: the clipped ratio weighs a token and has no gradient itself, so that no token loses its own. */
export const cispo = defineLoss({
  name: "cispo",
  title: "CISPO",
  aggregation: "token-mean",
  rule: "verl-0.9.1",
  clips: "ratio",
  weighs: true,
  verl: true,
  tinker: "cispo",
  // ScaleRL reads a bound of 5 as the greatest ratio itself, and has none below.
  presets: { cispo: {}, "scale-rl": { clipRatioLow: 1, clipRatioHigh: 4 } },
  views: {
    cispo: {
      label: "CISPO",
      summary: "The clip bounds what a token weighs, and takes no token's gradient away.",
    },
  },

  tensors(input, options, { detached, boundedLogRatio, figures, total }) {
    const { low, high } = clipBounds(options);
    const logRatio = boundedLogRatio(input);
    const ratio: Tensor = logRatio.exp();
    const weight: Tensor = detached(ratio.clipByValue(low, high));
    const losses: Tensor = weight.mul(input.advantages).mul(input.logprobs).neg();
    return {
      loss: total(losses),
      metrics: figures(input, logRatio, { clipped: ratio.notEqual(weight) }),
    };
  },

  token({ ratio, advantage, logprob }, _, options) {
    const { low, high } = clipBounds(options);
    const weight = clamp(ratio, low, high);
    const region = ratio > high ? "above" : ratio < low ? "below" : "inside";
    const loss = -weight * advantage * logprob;
    return { ratio, region, used: advantage, weight, loss, terms: { bounded: weight } };
  },

  formula: () => [
    f.tokenRatio("boundedLogRatio.return"),
    f.line(
      "Weight: the clipped ratio, without a gradient of its own",
      f.math(f.bounded, f.equals, f.call("clip", f.ratio, f.low, f.high)),
      "cispo.tensors.weight",
    ),
    f.tokenLoss(
      f.row(f.minus, f.stopped(f.bounded), f.times, f.given, f.times, f.logprob),
      "cispo.tensors.losses",
    ),
  ],
  gradient: { code: ["cispo.token.weight"] },
});

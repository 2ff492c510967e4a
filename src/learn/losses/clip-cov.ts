import { anyNumber, share } from "../../../common/options/check-options.js";
import { key, option } from "../../../common/options/option-table.js";
import { Random } from "../../base/random/random.js";
import type { Tensor } from "./base/aggregate.js";
import { defineLoss } from "./base/definition.js";
import * as f from "./base/formula.js";
import { clipBounds, policyLoss } from "./base/options.js";
import { chosenAt, clippedOutcome, covarianceOf, placesOf } from "./base/token-rule.js";

export const clipCovOptions = {
  /** Clip-Cov: the share of the tokens that lose their gradient. Default: 0.0002. */
  clipCovRatio: option(
    share,
    0.0002,
    key(`${policyLoss}.clip_cov_ratio`, "clip_cov: share of tokens dropped"),
  ),
  /** Clip-Cov: tokens with a covariance above this may be drawn. Default: 1. */
  clipCovLow: option(
    anyNumber,
    1,
    key(`${policyLoss}.clip_cov_lb`, "clip_cov: covariances above this"),
  ),
  /** Clip-Cov: tokens with a covariance below this may be drawn. Default: 5. */
  clipCovHigh: option(anyNumber, 5, key(`${policyLoss}.clip_cov_ub`, "clip_cov: and below this")),
};

/**
 * Clip-Cov: PPO's clip; and of the unclipped tokens whose advantage and log-probability vary together
 * more than others', some drawn at random lose their gradient.
 */
export const clipCov = defineLoss({
  name: "clip_cov",
  title: "Clip-Cov",
  aggregation: "token-mean",
  rule: "verl-0.9.1",
  clips: "ratio",
  asks: "draws",
  verl: true,
  options: clipCovOptions,
  presets: { "clip-cov": {} },
  views: {
    "clip-cov": {
      label: "Clip-Cov",
      summary:
        "PPO's clip; and a few of the tokens that would narrow the policy most lose their gradient.",
      // Two tokens of ten thousand would hardly be one of a batch as small as this.
      settings: { clipCovRatio: 0.02, clipCovLow: 0.2 },
    },
  },

  tensors(input, options, ops) {
    const { tf, detached, maskedTensorMean } = ops;
    const { low, high } = clipBounds(options);
    const { clipCovRatio, clipCovLow, clipCovHigh } = options;
    const { logprobs, oldLogprobs, advantages, mask } = input;
    const { draws = ops.drawsOf(Random.from(0), mask.size) } = input;
    const logRatio: Tensor = logprobs.sub(oldLogprobs);
    const ratio: Tensor = logRatio.exp();
    const unclipped: Tensor = ratio.mul(advantages).neg();
    const clipped: Tensor = ops.clip(ratio, low, high).mul(advantages).neg();

    const now = detached(logprobs);
    const covariance: Tensor = advantages
      .sub(maskedTensorMean(advantages, mask))
      .mul(now.sub(maskedTensorMean(now, mask)));
    const candidates = mask
      .greater(0)
      .logicalAnd(detached(clipped).lessEqual(detached(unclipped)))
      .logicalAnd(covariance.greater(clipCovLow))
      .logicalAnd(covariance.less(clipCovHigh));
    // The nth candidate, sequence by sequence, has the nth draw.
    const place = candidates.cast("int32").reshape([-1]).cumsum().sub(1);
    const keys: Tensor = draws
      .gather<Tensor>(tf.maximum(place, 0).cast("int32"))
      .reshape(mask.shape);
    const chosen = ops.greatest(keys, candidates, ops.shareOf(mask.sum(), clipCovRatio));
    const losses: Tensor = ops.evenMaximum(unclipped, clipped).mul(tf.sub<Tensor>(1, chosen));
    return {
      loss: ops.total(losses),
      metrics: ops.figures(input, logRatio, { clipped: chosen.greater(0) }),
      chosen,
    };
  },

  share(rows, options) {
    const { clipCovRatio, clipCovLow, clipCovHigh } = options;
    const covariance = covarianceOf(rows);
    const chosen = chosenAt(rows, () => {
      const places = placesOf(rows);
      const candidates = places.filter(([r, t]) => {
        const { logprobs, oldLogprobs, advantages } = rows[r]!;
        const ratio = Math.exp(logprobs[t]! - oldLogprobs[t]!);
        const inside = clippedOutcome(ratio, advantages[t]!, options).region === "inside";
        const own = covariance(r, t);
        return inside && own > clipCovLow && own < clipCovHigh;
      });
      const random = Random.from(0);
      const drawn = candidates.map((place) => ({ place, draw: random.uniform() }));
      return drawn
        .sort((a, b) => b.draw - a.draw)
        .slice(0, Math.max(1, Math.floor(clipCovRatio * places.length)))
        .map(({ place }) => place);
    });
    return (r, t) => ({ covariance: covariance(r, t), chosen: chosen(r, t) });
  },
  token({ ratio, advantage }, { chosen = 0 }, options) {
    const outcome = clippedOutcome(ratio, advantage, options);
    return chosen ? { ...outcome, region: "chosen", weight: 0, loss: 0 } : outcome;
  },

  formula: () => [
    f.tokenRatio("clipCov.tensors.ratio"),
    f.clipLine("clipCov.tensors.clipped"),
    f.covarianceLine("clipCov.tensors.covariance"),
    f.line(
      "Chosen: some unclipped tokens of large covariance, drawn at random",
      f.math(f.chosen),
      "clipCov.tensors.chosen",
    ),
    f.tokenLoss(
      f.row(f.candidates(f.given), f.times, f.mo("("), f.mn(1), f.minus, f.chosen, f.mo(")")),
      "clipCov.tensors.losses",
    ),
  ],
  gradient: { code: ["clipCov.token.return"] },
});

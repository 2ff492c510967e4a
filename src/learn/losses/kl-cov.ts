import { notNegative, share } from "../../../common/options/check-options.js";
import { key, option } from "../../../common/options/option-table.js";
import type { Tensor } from "./base/aggregate.js";
import { defineLoss } from "./base/definition.js";
import * as f from "./base/formula.js";
import { policyLoss } from "./base/options.js";
import { chosenAt, covarianceOf, placesOf } from "./base/token-rule.js";

export const klCovOptions = {
  /**
   * KL-Cov: the share of the tokens, by greatest covariance, that are held back. Default: 0.0002.
   */
  klCovRatio: option(
    share,
    0.0002,
    key(`${policyLoss}.kl_cov_ratio`, "kl_cov: share of tokens held back"),
  ),
  /** KL-Cov: the weight of what holds them back. Default: 0.1. */
  klCovCoefficient: option(
    notNegative,
    0.1,
    key(`${policyLoss}.ppo_kl_coef`, "kl_cov: what holds them"),
  ),
};

/**
 * KL-Cov: no clip; the tokens whose advantage and log-probability vary together the most are held where
 * they were by the size of their log ratio.
 */
export const klCov = defineLoss({
  name: "kl_cov",
  title: "KL-Cov",
  aggregation: "token-mean",
  rule: "verl-0.9.1",
  verl: true,
  options: klCovOptions,
  presets: { "kl-cov": {} },
  views: {
    "kl-cov": {
      label: "KL-Cov",
      summary: "No clip: the tokens that would narrow the policy most are held where they were.",
      settings: { klCovRatio: 0.02 },
    },
  },

  tensors(input, options, ops) {
    const { tf, detached } = ops;
    const { klCovRatio, klCovCoefficient } = options;
    const { logprobs, oldLogprobs, advantages, mask } = input;
    const logRatio: Tensor = logprobs.sub(oldLogprobs);
    const count: Tensor = mask.sum();
    const centred = (values: Tensor): Tensor =>
      values.sub(values.mul(mask).sum().div(tf.maximum(count, 1)));
    const covariance: Tensor = centred(advantages).mul(centred(detached(logprobs)));
    const chosen =
      klCovRatio === 0
        ? tf.zerosLike(mask)
        : ops.greatest(covariance, mask.greater(0), ops.shareOf(count, klCovRatio));
    // By a maximum: where the ratio is 1 the gradient is 0, as in PyTorch.
    const size = ops.evenMaximum(logRatio, logRatio.neg());
    const held: Tensor = size.mul<Tensor>(chosen).mul(klCovCoefficient);
    const losses: Tensor = held.sub(logRatio.exp().mul(advantages));
    return {
      loss: ops.total(losses),
      metrics: { ...ops.figures(input, logRatio), ppo_kl: ops.maskedTensorMean(size, mask) },
      chosen,
    };
  },

  share(rows, options) {
    const { klCovRatio } = options;
    const covariance = covarianceOf(rows);
    const chosen = chosenAt(rows, () => {
      const places = placesOf(rows);
      if (klCovRatio === 0) return [];
      return places
        .map((place) => ({ place, own: covariance(...place) }))
        .sort((a, b) => b.own - a.own)
        .slice(0, Math.max(1, Math.floor(klCovRatio * places.length)))
        .map(({ place }) => place);
    });
    return (r, t) => ({ covariance: covariance(r, t), chosen: chosen(r, t) });
  },
  token({ ratio, logRatio, advantage }, { chosen = 0 }, options) {
    const { klCovCoefficient } = options;
    const plain = { ratio, used: advantage, weight: ratio, terms: { klCovCoefficient, logRatio } };
    if (!chosen) return { ...plain, region: "inside", loss: -ratio * advantage };
    const hold = klCovCoefficient * Math.sign(logRatio);
    const loss = klCovCoefficient * Math.abs(logRatio) - ratio * advantage;
    return { ...plain, region: "chosen", hold, loss };
  },

  formula() {
    const k = f.symbol("klCovCoefficient", f.mi("k"));
    const size = f.row(f.mo("|"), f.logRatio, f.mo("|"));
    return [
      f.tokenRatio("klCov.tensors.losses"),
      f.covarianceLine("klCov.tensors.covariance"),
      f.line("Chosen: the tokens of greatest covariance", f.math(f.chosen), "klCov.tensors.chosen"),
      f.tokenLoss(
        f.row(f.minus, f.ratio, f.times, f.given, f.plus, k, size, f.times, f.chosen),
        ...["klCov.tensors.held", "klCov.tensors.losses"],
      ),
    ];
  },
  gradient: { code: ["klCov.token.hold"], hold: true },
});

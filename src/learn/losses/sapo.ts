import { positive } from "../../../common/options/check-options.js";
import { key, option } from "../../../common/options/option-table.js";
import type { Tensor } from "./base/aggregate.js";
import { defineLoss } from "./base/definition.js";
import * as f from "./base/formula.js";

export const sapoOptions = {
  /**
   * SAPO: how steeply a token fades with its ratio, where its advantage is positive. Default: 1.
   */
  tauPositive: option(
    positive,
    1,
    key("actor_rollout_ref.actor.tau_pos", "sapo: steepness where the advantage is positive"),
  ),
  /**
   * SAPO: how steeply a token fades with its ratio, where its advantage is not positive. Default:
   * 1.05.
   */
  tauNegative: option(
    positive,
    1.05,
    key("actor_rollout_ref.actor.tau_neg", "sapo: steepness elsewhere"),
  ),
};

/** SAPO: a sigmoid of the ratio in place of a clip, steeper where the advantage is not positive. */
export const sapo = defineLoss({
  name: "sapo",
  title: "SAPO",
  aggregation: "seq-mean-token-mean",
  ownAggregation: true,
  rule: "verl-0.9.1",
  verl: true,
  options: sapoOptions,
  presets: { sapo: {} },
  views: {
    sapo: {
      label: "SAPO",
      summary: "A soft gate in place of the clip, steeper for what got worse.",
    },
  },

  tensors(input, options, { tf, boundedLogRatio, figures, total }) {
    const { tauPositive, tauNegative } = options;
    const { advantages } = input;
    const logRatio = boundedLogRatio(input);
    const tau: Tensor = tf.where(
      advantages.greater(0),
      tf.onesLike(advantages).mul(tauPositive),
      tf.onesLike(advantages).mul(tauNegative),
    );
    const gate: Tensor = logRatio.exp().sub(1).mul<Tensor>(tau).sigmoid().mul(4).div(tau);
    return {
      loss: total(gate.mul<Tensor>(advantages).neg()),
      metrics: figures(input, logRatio),
    };
  },

  token({ ratio, advantage }, _, options) {
    const { tauPositive, tauNegative } = options;
    const tau = advantage > 0 ? tauPositive : tauNegative;
    const gate = 1 / (1 + Math.exp(-tau * (ratio - 1)));
    const weight = 4 * gate * (1 - gate) * ratio;
    const loss = (-advantage * gate * 4) / tau;
    return { ratio, region: "inside", used: advantage, weight, loss, terms: { tau, gate } };
  },

  formula() {
    const tau = f.symbol("tau", f.mi("τ"));
    const slope = f.row(tau, f.mo("("), f.ratio, f.minus, f.mn(1), f.mo(")"));
    const gate = f.symbol("gate", f.call("σ", slope));
    return [
      f.tokenRatio("boundedLogRatio.return"),
      f.line(
        "Gate: it fades on either side of 1, with τ by the sign of the advantage",
        f.math(gate),
        "sapo.tensors.gate",
      ),
      f.tokenLoss(
        f.row(f.minus, f.frac(f.mn(4), tau), f.times, gate, f.times, f.given),
        "sapo.tensors.loss",
      ),
    ];
  },
  gradient: { code: ["sapo.token.weight"] },
});

import { notNegative, valuesOf } from "../../../../common/options/check-options.js";
import { key, option } from "../../../../common/options/option-table.js";
import type { Tensor } from "../base/aggregate.js";
import { defineLoss } from "../base/definition.js";
import * as f from "../base/formula.js";
import { policyLoss } from "../base/options.js";
import { clamp, type LossRow, perRow, widestLogRatio } from "../base/token-rule.js";

const parameter = (by: number, name: string, said: string) =>
  option(notNegative, by, key(`${policyLoss}.${name}`, `vespo: ${said}`));

export const vespoOptions = {
  /** VESPO: the power of a trajectory's ratio where its advantage is not negative. Default: 2. */
  vespoPowerPositive: parameter(2, "vespo_k_pos", "power of the ratio, advantage not negative"),
  /** VESPO: how fast a large ratio fades where the advantage is not negative. Default: 3. */
  vespoFadePositive: parameter(3, "vespo_lambda_pos", "how fast it fades, advantage not negative"),
  /** VESPO: the power of a trajectory's ratio where its advantage is negative. Default: 3. */
  vespoPowerNegative: parameter(3, "vespo_k_neg", "power of the ratio, advantage negative"),
  /** VESPO: how fast a large ratio fades where the advantage is negative. Default: 2. */
  vespoFadeNegative: parameter(2, "vespo_lambda_neg", "how fast it fades, advantage negative"),
  /** VESPO: the weight has a gradient too; in TRL and the paper it has none. Default: false. */
  vespoThrough: option(
    valuesOf<boolean>("boolean?"),
    false,
    key(`${policyLoss}.vespo_through`, "vespo: the weight has a gradient too; TRL's has none"),
  ),
};

/** ln of the least ratio of a trajectory that counts. */
const least = Math.log(1e-8);

/** The log ratio of a whole trajectory, with the log of what a correction for another sampler weighs it by. */
function wholeLogRatio(row: LossRow): number {
  const { logprobs, oldLogprobs, mask, weights, wholeWeights } = row;
  let [sum, sampler, count] = [0, 0, 0];
  for (let t = 0; t < mask.length; t++) {
    if (!mask[t]) continue;
    sum += clamp(logprobs[t]! - oldLogprobs[t]!, -widestLogRatio, widestLogRatio);
    sampler += Math.log(Math.max(weights?.[t] ?? 1, 1e-8));
    count++;
  }
  return clamp(sum + sampler / (wholeWeights ? Math.max(1, count) : 1), least, widestLogRatio);
}

/**
 * VESPO: a trajectory's ratio weighs its tokens, by a curve that rises to 1 and fades beyond it, without a gradient of
 * its own. A correction for another sampler is part of the ratio.
 */
export const vespo = defineLoss({
  name: "vespo",
  title: "VESPO",
  aggregation: "token-mean",
  rule: "trl",
  options: vespoOptions,
  presets: { vespo: {} },
  views: {
    vespo: {
      label: "VESPO",
      summary: "A curve of the whole trajectory's ratio weighs its tokens: no clip.",
    },
  },

  tensors({ rolloutWeights, wholeWeights, ...input }, options, ops) {
    const { tf, detached, figures, total } = ops;
    const { logprobs, oldLogprobs, advantages, mask } = input;
    const logRatio: Tensor = logprobs.sub(oldLogprobs);
    const moving = options.vespoThrough ? logRatio : detached(logRatio);
    const own: Tensor = moving.clipByValue(-widestLogRatio, widestLogRatio);
    const summed = (x: Tensor): Tensor => x.mul(mask).sum(-1, true);
    const bySampler = (by: Tensor): Tensor => {
      const logs = summed(tf.maximum<Tensor>(by, 1e-8).log());
      // A trajectory's weight stands on each of its tokens and counts once.
      return wholeWeights ? logs.div(tf.maximum(summed(tf.onesLike(mask)), 1)) : logs;
    };
    const ratio = summed(own);
    const all = rolloutWeights ? ratio.add<Tensor>(bySampler(rolloutWeights)) : ratio;
    const whole: Tensor = all.clipByValue(least, widestLogRatio);
    const negative = advantages.less(0);
    const by = (positive: number, other: number): Tensor =>
      tf.where(negative, tf.fill(advantages.shape, other), tf.fill(advantages.shape, positive));
    const power = by(options.vespoPowerPositive, options.vespoPowerNegative);
    const fade = by(options.vespoFadePositive, options.vespoFadeNegative);
    const phi: Tensor = fade.add(power.mul(whole)).sub<Tensor>(fade.mul(whole.exp())).exp();
    const losses: Tensor = phi.mul(advantages).mul<Tensor>(logprobs).neg();
    return {
      loss: total(losses, { unweighed: true }),
      metrics: figures(input, logRatio),
    };
  },

  share(rows) {
    const log = perRow(rows, wholeLogRatio);
    const sum = perRow(rows, ({ logprobs, mask }) =>
      Array.from(logprobs).reduce((all, p, t) => (mask[t] ? all + p : all), 0),
    );
    return (r) => ({ wholeLogRatio: log(r), summedLogprob: sum(r) });
  },
  token({ ratio, logRatio, logprob, advantage }, shared, options) {
    const { wholeLogRatio: log = logRatio, summedLogprob = logprob } = shared;
    const [power, fade] =
      advantage < 0
        ? [options.vespoPowerNegative, options.vespoFadeNegative]
        : [options.vespoPowerPositive, options.vespoFadePositive];
    const phi = Math.exp(fade + power * log - fade * Math.exp(log));
    const moves =
      options.vespoThrough && Math.abs(logRatio) < widestLogRatio && log > least
        ? summedLogprob * (power - fade * Math.exp(log))
        : 0;
    return {
      ...{ ratio, region: "inside", used: advantage, weight: phi * (1 + moves) },
      loss: -phi * advantage * logprob,
      terms: { wholeLogRatio: log, phi, power, fade },
    };
  },
  // The correction is in the ratio.
  weigh: () => () => 1,

  formula() {
    const log = f.symbol("wholeLogRatio", f.mi("W"));
    const phi = f.symbol("phi", f.mi("φ"));
    const [power, fade] = [f.symbol("power", f.mi("k")), f.symbol("fade", f.mi("λ"))];
    const sum = `<munder><mo>∑</mo><mtext>row</mtext></munder>`;
    return [
      f.line(
        "Log ratio: of the whole trajectory",
        f.math(log, f.equals, sum, f.log("θ"), f.minus, f.log("old")),
        "vespo.tensors.whole",
      ),
      f.line(
        "Weight: it rises up to a ratio near 1 and fades beyond it",
        f.math(
          phi,
          f.equals,
          f.call("exp", f.row(fade, f.plus, power, log, f.minus, fade, f.call("exp", log))),
        ),
        "vespo.tensors.phi",
      ),
      f.tokenLoss(
        f.row(f.minus, f.stopped(phi), f.times, f.given, f.times, f.logprob),
        "vespo.tensors.losses",
      ),
    ];
  },
  gradient: { code: ["vespo.token.weight"] },
});

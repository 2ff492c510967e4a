import { defined } from "../../../common/options/defined.js";
import type { LossName, PolicyLossOptions } from "../../../src/learn/losses/registry.js";
import { aggregateLoss } from "../../../src/learn/losses/base/aggregate.js";
import { losses } from "../../../src/learn/losses/losses.js";
import { tf } from "../../../src/tensor/tf.js";
import type { Runner, Runners } from "../runner.js";

type Tensor = InstanceType<typeof tf.Tensor>;

const matrix = (rows: number[][]): Tensor => tf.tensor2d(rows);
const number = (x: Tensor) => x.dataSync()[0]!;

/** A value of a case; null there means unset. */
const set = <T>(value: T | null | undefined) => value ?? undefined;

/** A loss's own parameters by their names in the cases, wherever these stand. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
function parameters(v: any): Record<string, unknown> {
  return {
    clipRatio: set(v.clip_ratio),
    clipRatioLow: set(v.clip_ratio_low),
    clipRatioHigh: set(v.clip_ratio_high),
    clipRatioC: set(v.clip_ratio_c),
    tauPositive: set(v.tau_pos),
    tauNegative: set(v.tau_neg),
    clipCovRatio: set(v.clip_cov_ratio),
    clipCovLow: set(v.clip_cov_lb),
    clipCovHigh: set(v.clip_cov_ub),
    klCovRatio: set(v.kl_cov_ratio),
    // The function falls back to 1, the configuration to 0.1.
    klCovCoefficient: "ppo_kl_coef" in v ? (v.ppo_kl_coef ?? 1) : undefined,
    droBeta: set(v.dro_beta),
    gppoLow: set(v.beta1),
    gppoHigh: set(v.beta2),
    futureDecay: set(v.decay_rate),
    futureClip: set(v.future_kl_clip_ratio),
    futureHighOnly: set(v.future_kl_clip_high_only),
    futureWeight: set(v.future_kl_weight),
    futureSafety: set(v.safety_thresh),
  };
}

/** Draws that give the nth candidate the place that a permutation gives it. */
function drawsFrom(permutation: readonly number[] | undefined): Tensor | undefined {
  if (!permutation) return undefined;
  const draws = new Array<number>(permutation.length);
  permutation.forEach((candidate, place) => (draws[candidate] = -place));
  return tf.tensor1d(draws);
}

function run(loss: LossName): Runner {
  return (v) => {
    const { config = {} } = v;
    const options: PolicyLossOptions = {
      ...parameters({ ...v, ...config, ...config.policy_loss }),
      aggregation: set(v.loss_agg_mode),
      referenceNaN: true,
    };
    const draws = drawsFrom(v.permutation);
    const fixed = {
      oldLogprobs: matrix(v.old_log_prob),
      advantages: matrix(v.advantages),
      mask: matrix(v.response_mask),
      ...(v.rollout_is_weights ? { rolloutWeights: matrix(v.rollout_is_weights) } : {}),
      ...(v.turns ? { turns: v.turns as number[][] } : {}),
      ...defined({ draws }),
    };
    const of = (logprobs: Tensor) => losses[loss]({ ...fixed, logprobs }, options);
    const { metrics } = of(matrix(v.log_prob));
    const { value, grad } = tf.valueAndGrad((x: Tensor) => of(x).loss.asScalar())(
      matrix(v.log_prob),
    );
    const found = Object.fromEntries(
      Object.entries(metrics).map(([name, figure]) => [name, number(figure)]),
    );
    return {
      pg_loss: number(value),
      grad_log_prob: grad.arraySync(),
      ...found,
      metrics: Object.fromEntries(
        Object.entries(found).map(([name, figure]) => [`actor/${name}`, figure]),
      ),
    };
  };
}

export const runners: Runners = {
  agg_loss_verl09: ({ loss_mat, loss_mask, mode }) => {
    const { value, grad } = tf.valueAndGrad((x: Tensor) =>
      aggregateLoss(x, matrix(loss_mask), mode, { rule: "verl-0.9.1", emptyRow: "nan" }).asScalar(),
    )(matrix(loss_mat));
    return { loss: number(value), grad_wrt_loss_mat: grad.arraySync() };
  },
  ce_gppo_loss: run("ce_gppo"),
  cispo_loss: run("cispo"),
  clip_cov_loss: run("clip_cov"),
  dppo_kl_loss: run("dppo_kl"),
  dppo_tv_loss: run("dppo_tv"),
  dro_loss: run("dro"),
  future_kl_loss: run("future_kl"),
  geo_mean_loss: run("geo_mean"),
  gpg_loss: run("gpg"),
  kl_cov_loss: run("kl_cov"),
  sapo_loss: run("sapo"),
  turn_policy_loss: (v) => run(v.rule === "tree_grpo_turn" ? "turn" : "gspo_turn")(v),
};

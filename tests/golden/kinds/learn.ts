import {
  type KlControl,
  controlKl,
  klInReward,
  klPenalty,
} from "../../../src/learn/losses/base/kl.js";
import type { LossAggregation } from "../../../src/learn/losses/base/options.js";
import type { PolicyLossOptions } from "../../../src/learn/losses/registry.js";
import { actorLoss, losses, valueLoss } from "../../../src/learn/losses/losses.js";
import { aggregateLoss } from "../../../src/learn/losses/base/aggregate.js";
import { gae } from "../../../src/learn/estimators/plain/gae.js";
import { grpoPassAtK } from "../../../src/learn/estimators/plain/grpo-passk.js";
import { grpo } from "../../../src/learn/estimators/plain/grpo.js";
import { opo } from "../../../src/learn/estimators/plain/opo.js";
import { reinforcePlusPlusBaseline } from "../../../src/learn/estimators/plain/reinforce-plus-plus-baseline.js";
import { reinforcePlusPlusOlder } from "../../../src/learn/estimators/plain/reinforce-plus-plus-older.js";
import { remax } from "../../../src/learn/estimators/plain/remax.js";
import { rloo } from "../../../src/learn/estimators/plain/rloo.js";
import { maskedMean, maskedVariance, whiten } from "../../../src/learn/masked.js";
import { logProbEntropy } from "../../../src/tensor/log-prob.js";
import { tf } from "../../../src/tensor/tf.js";
import type { Runners } from "../runner.js";

type Tensor = InstanceType<typeof tf.Tensor>;
type Matrix = number[][];

const matrix = (rows: Matrix): Tensor => tf.tensor2d(rows);
const number = (x: Tensor) => x.dataSync()[0]!;

/** A loss, its metrics and its gradient in one input. */
function withGradient(at: Matrix, loss: (x: Tensor) => Tensor): { value: number; slope: unknown } {
  const { value, grad } = tf.valueAndGrad((x: Tensor) => loss(x).asScalar())(matrix(at));
  return { value: number(value), slope: grad.arraySync() };
}

/** Keys of a case to our option names; null in a case means unset. */
function policyOptions(v: Record<string, unknown>): PolicyLossOptions {
  return {
    clipRatio: v["clip_ratio"] as number,
    clipRatioLow: (v["clip_ratio_low"] ?? undefined) as number | undefined,
    clipRatioHigh: (v["clip_ratio_high"] ?? undefined) as number | undefined,
    clipRatioC: v["clip_ratio_c"] as number,
    aggregation: v["loss_agg_mode"] as LossAggregation,
    entropyBalancedClipping: Boolean(v["enable_entropy_balanced_clipping"]),
    entropyBalancedAdvantage: Boolean(v["enable_entropy_balanced_advantage"]),
    referenceNaN: true,
  };
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
function policy(v: any) {
  const fixed = {
    oldLogprobs: matrix(v.old_log_prob),
    advantages: matrix(v.advantages),
    mask: matrix(v.response_mask),
    ...(v.entropy ? { entropies: matrix(v.entropy) } : {}),
  };
  const run = (logprobs: Tensor) => losses.vanilla({ ...fixed, logprobs }, policyOptions(v));
  const { metrics } = run(matrix(v.log_prob));
  const { value, slope } = withGradient(v.log_prob, (x) => run(x).loss);
  return {
    pg_loss: value,
    grad_log_prob: slope,
    pg_clipfrac: number(metrics.pg_clipfrac),
    ppo_kl: number(metrics.ppo_kl),
    pg_clipfrac_lower: number(metrics.pg_clipfrac_lower),
  };
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
function control(v: any): KlControl {
  return v.type === "fixed"
    ? { type: "fixed", coefficient: v.kl_coef }
    : { type: "adaptive", coefficient: v.kl_coef, target: v.target_kl, horizon: v.horizon };
}

export const runners: Runners = {
  agg_loss: ({ loss_mat, loss_mask, mode }) => {
    const { value, slope } = withGradient(loss_mat, (x) =>
      aggregateLoss(x, matrix(loss_mask), mode, { emptyRow: "nan" }),
    );
    return { loss: value, grad_wrt_loss_mat: slope };
  },
  ppo_policy_loss: policy,
  aepo_policy_loss: policy,
  actor_total_loss: (v) => {
    const labels = tf.tensor(v.labels, undefined, "int32");
    const aepo = v.algorithm === "aepo";
    const run = (logits: Tensor) => {
      const { logprobs, entropies } = logProbEntropy(logits, labels, v.temperature);
      return actorLoss(
        {
          logprobs,
          oldLogprobs: matrix(v.old_log_prob),
          refLogprobs: matrix(v.ref_log_prob),
          advantages: matrix(v.advantages),
          mask: matrix(v.response_mask),
          ...(v.entropy_coeff === 0 ? {} : { entropies }),
        },
        {
          ...policyOptions(v),
          entropyBalancedClipping: aepo,
          entropyBalancedAdvantage: aepo,
          entropyCoefficient: v.entropy_coeff,
          klLossCoefficient: v.kl_loss_coef,
          klLossKind: v.kl_loss_type,
        },
      );
    };
    const logits = tf.tensor(v.logits);
    const { loss, policy: own, kl } = run(logits);
    return {
      total_loss: number(loss),
      pg_loss: number(own),
      kl_loss: number(kl!),
      grad_logits: tf
        .grad((x: Tensor) => run(x).loss)(logits)
        .arraySync(),
    };
  },
  value_loss: (v) => {
    const run = (predictions: Tensor) =>
      valueLoss(
        {
          predictions,
          values: matrix(v.values),
          returns: matrix(v.returns),
          mask: matrix(v.response_mask),
        },
        { clipRange: v.cliprange_value, aggregation: v.loss_agg_mode, referenceNaN: true },
      );
    const { value, slope } = withGradient(v.vpreds, (x) => run(x).loss);
    const { metrics } = run(matrix(v.vpreds));
    return { vf_loss: value, grad_vpreds: slope, vf_clipfrac: number(metrics.vf_clipfrac) };
  },
  kl_penalty: ({ kind, log_prob, ref_log_prob }) => {
    const run = (x: Tensor) => klPenalty(x, matrix(ref_log_prob), kind);
    try {
      return {
        kl: run(matrix(log_prob)).arraySync(),
        grad_sum_wrt_log_prob: withGradient(log_prob, (x) => run(x).sum()).slope,
      };
    } catch (error) {
      return { error: error instanceof RangeError ? "not implemented" : String(error) };
    }
  },
  kl_controller: (v) => {
    let state = control(v);
    const values = (v.updates as [number, number][]).map(([kl, steps]) => {
      state = controlKl(state, { kl, steps });
      return state.coefficient;
    });
    return { values };
  },
  kl_in_reward: async (v) => {
    const length = v.token_level_scores[0].length;
    const result = await klInReward(
      {
        scores: v.token_level_scores,
        oldLogprobs: v.old_log_probs,
        refLogprobs: v.ref_log_prob,
        mask: (v.attention_mask_full as Matrix).map((row) => row.slice(-length)),
      },
      { kind: v.kind, control: control(v.controller) },
    );
    return {
      token_level_rewards: result.rewards,
      metrics: result.metrics,
      coef_after: result.control.coefficient,
    };
  },
  masked_stats: ({ values, mask, shift_mean }) => {
    try {
      return {
        mean: maskedMean(values, mask),
        var: maskedVariance(values, mask),
        whitened: whiten(values, mask, shift_mean),
        row_mean: (values as Matrix).map((row, i) => maskedMean([row], [mask[i]])),
      };
    } catch (error) {
      const kept = /got (\d)/.exec(String(error))?.[1];
      return { error: kept === "1" ? "mask sum of one is rejected" : "empty mask is rejected" };
    }
  },
  gae: (v) =>
    gae(
      { rewards: v.token_level_rewards, values: v.values, mask: v.response_mask },
      { gamma: v.gamma, lambda: v.lam, results: true },
    ),
  grpo_advantage: (v) =>
    grpo(
      { rewards: v.token_level_rewards, mask: v.response_mask, groups: v.index },
      { epsilon: v.epsilon, normalizeByDeviation: v.norm_adv_by_std },
    ),
  other_advantage_estimators: (v) => {
    const batch = { rewards: v.token_level_rewards, mask: v.response_mask, groups: v.index };
    switch (v.estimator) {
      case "rloo":
        return rloo(batch);
      case "reinforce_plus_plus":
        return reinforcePlusPlusOlder(batch, { gamma: v.gamma });
      case "reinforce_plus_plus_baseline":
        return reinforcePlusPlusBaseline(batch);
      case "remax":
        return remax({ ...batch, baselines: v.reward_baselines });
      case "opo":
        return opo(batch);
      case "grpo_passk":
        return grpoPassAtK(batch);
      default:
        throw new RangeError(`no estimator ${v.estimator}`);
    }
  },
};

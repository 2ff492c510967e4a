import { defined } from "../../../common/options/defined.js";
import { hierarchicalGrpo, roleBaseline } from "../../../src/learn/estimators/agents.js";
import { lengthPenalty } from "../../../src/learn/estimators/length-penalty.js";
import { gdpo } from "../../../src/learn/estimators/gdpo.js";
import { maxRl } from "../../../src/learn/estimators/plain/max-rl.js";
import { optimalTokenBaseline } from "../../../src/learn/estimators/plain/optimal-token-baseline.js";
import { aggregateLoss } from "../../../src/learn/losses/base/aggregate.js";
import { settingsOf } from "../../../src/learn/losses/base/definition.js";
import { type LossRow, promptScales } from "../../../src/learn/losses/base/token-rule.js";
import type { ActorLossOptions } from "../../../src/learn/losses/loss-rules.js";
import { vespo } from "../../../src/learn/losses/trl/vespo.js";
import { tf } from "../../../src/tensor/tf.js";
import { lossAt, type Matrix, matrix, ones, onRows, set, type Tensor } from "../tensors.js";
import type { Runners } from "../runner.js";

// Inputs are described in the files themselves.
/* eslint-disable @typescript-eslint/no-explicit-any */

const trlLosses: Readonly<Record<string, ActorLossOptions>> = {
  grpo: { loss: "two_sided", aggregation: "seq-mean-token-mean" },
  bnpo: { loss: "two_sided", aggregation: "token-mean" },
  dapo: { loss: "two_sided", aggregation: "token-mean" },
  dr_grpo: { loss: "two_sided", aggregation: "seq-mean-token-sum-norm" },
  cispo: { loss: "cispo", aggregation: "token-mean", aggregationRule: "trl" },
  sapo: { loss: "sapo", aggregationRule: "trl" },
  luspo: { loss: "luspo" },
  // The cases were made by a copy whose weight has a gradient.
  vespo: { loss: "vespo", vespoThrough: true },
};

function trl(v: any) {
  const name = v.loss_type as string;
  const advantages = onRows(v.advantages, v.mask);
  const fixed = {
    oldLogprobs: matrix(v.old_log_prob),
    advantages: matrix(advantages),
    mask: matrix(v.mask),
    ...(v.importance_sampling_ratio ? { rolloutWeights: matrix(v.importance_sampling_ratio) } : {}),
    ...(v.ref_log_prob ? { refLogprobs: matrix(v.ref_log_prob) } : {}),
  };
  const options: ActorLossOptions = {
    ...trlLosses[name],
    ...(name === "cispo"
      ? { clipRatioLow: 1, clipRatioHigh: v.epsilon_high - 1 }
      : { clipRatioLow: v.epsilon_low, clipRatioHigh: v.epsilon_high }),
    paddedLength: v.max_completion_length,
    ratioOver: v.level,
    ...defined({ ratioDelta: set(v.delta), offPolicyMask: set(v.off_policy_mask_threshold) }),
    ...(v.beta === 0
      ? {}
      : { klLossCoefficient: v.beta, klLossRatio: Boolean(v.use_bias_correction_kl) }),
  };
  const { loss, gradient } = lossAt(v.log_prob, (logprobs) => ({ ...fixed, logprobs }), options);
  const rows = (v.log_prob as Matrix).map((logprobs, r): LossRow => ({
    ...{ logprobs, oldLogprobs: v.old_log_prob[r], advantages: advantages[r]!, mask: v.mask[r] },
  }));
  const settings = settingsOf(vespo as never, {}) as never;
  const shared = vespo.share!(rows, settings);
  const phi = rows.map(
    (_, r) =>
      vespo.token(
        { ratio: 1, logRatio: 0, logprob: 0, oldLogprob: 0, advantage: advantages[r]![0]! },
        shared(r, 0),
        settings,
      ).terms!["phi"],
  );
  return { loss, grad_log_prob: gradient, phi };
}

/** What a reduction multiplies each advantage by: the gradient of its sum. */
function reduction(v: any) {
  const modes = {
    token_mean: "token-mean",
    sequence_mean: "seq-mean-token-mean",
    seq_mean_token_sum_norm: "seq-mean-token-sum-norm",
    prompt_mean: "prompt-mean",
  } as const;
  const groups = (v.prompt_boundaries as [number, number][] | null)?.flatMap(([from, to], prompt) =>
    new Array<number>(to - from).fill(prompt),
  );
  const rowScales =
    groups &&
    promptScales(
      groups,
      (v.loss_mask as Matrix).map((row) => row.reduce((a, b) => a + b, 0)),
    );
  const slopes = tf
    .grad((x: Tensor) =>
      aggregateLoss(x, matrix(v.loss_mask), modes[v.loss_reduction as keyof typeof modes], {
        ...{ rule: "trl", paddedLength: v.max_seq_len },
        ...defined({ rowScales }),
      }).asScalar(),
    )(matrix(ones(v.loss_mask)))
    .arraySync() as Matrix;
  // A row without a token has no slope: what it would be multiplied by is the prompt's.
  const scales = slopes.map((row, r) => Math.max(...row) || rowScales![r]!);
  return {
    scaled_advantages: (v.advantages as Matrix).map((row, r) => row.map((a) => a * scales[r]!)),
  };
}

export const runners: Runners = {
  group_advantages_2026: (v) => {
    const scores: number[] = v.rewards ?? v.traces.map(({ reward }: any) => reward as number);
    const input = {
      ...{ rewards: scores.map((r) => [r]), mask: scores.map(() => [1]) },
      groups: v.index ?? scores.map(() => 0),
    };
    const agents = v.traces?.map(({ agent }: any) => agent as string);
    if (v.kind === "rae") {
      const { advantages, baselines } = roleBaseline(scores, agents);
      return { advantages, baselines_after: baselines };
    }
    if (v.kind === "hierarchical_grpo") {
      const episodes = v.traces.map(({ episode }: any) => episode as number);
      return { advantages: hierarchicalGrpo(scores, agents, episodes) };
    }
    if (v.kind === "grpo_length_penalty" || v.length_penalty) {
      const lengths = v.traces.map((trace: any) => ({
        output: trace.output_tokens,
        input: trace.total_tokens - trace.output_tokens,
        turns: trace.turns,
      }));
      const { advantages } = lengthPenalty({ ...input, scores, lengths });
      return { advantages: advantages.map(([a]) => a) };
    }
    const form = v.kind === "maxrl_skyrl" ? "skyrl" : "prime-rl";
    return { advantages: maxRl(input, { form }).advantages.map(([a]) => a) };
  },
  gdpo_advantage: (v) => {
    const names = Object.keys(v.rewards as object);
    const weights = Object.fromEntries(names.map((name, i) => [name, v.weights?.[i] ?? 1]));
    const input = { parts: v.rewards, mask: v.response_mask, groups: v.index };
    const found = gdpo({ ...input, mask: ones(v.response_mask) }, { weights });
    return {
      advantages_verl: gdpo(input, { over: "tokens", weights }).advantages,
      advantages_trl: found.advantages.map(([a]) => a),
    };
  },
  optimal_token_baseline: (v) =>
    optimalTokenBaseline(
      {
        ...{ rewards: v.token_level_rewards, mask: v.response_mask, groups: v.index },
        distributions: {
          ...{ logprobs: v.old_log_probs, squares: v.sum_pi_squared },
          ...defined({ weights: set(v.rollout_is_weights) }),
        },
      },
      { align: v.kind === "otb" ? "column" : "tokens", zeroTail: v.handle_zero_tail },
    ),
  trl_grpo_losses: trl,
  loss_reductions_skyrl: reduction,
};

import { defined } from "../../../common/options/defined.js";
import { completed } from "../../../common/options/option-table.js";
import { scaledByTeacher, teacherCredit } from "../../../src/learn/distillation/divergence.js";
import { tokenDivergence } from "../../../src/learn/distillation/vocabulary.js";
import { scaledByBelief } from "../../../src/learn/distillation/belief.js";
import { siblingPrompts } from "../../../src/learn/distillation/siblings.js";
import { distillationTable } from "../../../src/learn/distillation/options.js";
import {
  bypassWeights,
  correctionOf,
  type RolloutCorrection,
} from "../../../src/learn/correction/rollout-correction.js";
import { gdpo } from "../../../src/learn/estimators/gdpo.js";
import { maxRl } from "../../../src/learn/estimators/plain/max-rl.js";
import { optimalTokenBaseline } from "../../../src/learn/estimators/plain/optimal-token-baseline.js";
import { aggregateLoss } from "../../../src/learn/losses/base/aggregate.js";
import { settingsOf } from "../../../src/learn/losses/base/definition.js";
import { unmaskedAdvantages, unmaskedRow } from "../../../src/learn/losses/base/off-policy-mask.js";
import { tensorOps } from "../../../src/learn/losses/base/tensor-ops.js";
import { type LossRow, promptScales } from "../../../src/learn/losses/base/token-rule.js";
import { decoupled, staleWeights } from "../../../src/learn/losses/sampler/decoupled.js";
import type { ActorLossOptions } from "../../../src/learn/losses/loss-rules.js";
import { actorLoss } from "../../../src/learn/losses/losses.js";
import { vespo } from "../../../src/learn/losses/trl/vespo.js";
import { tf } from "../../../src/tensor/tf.js";
import type { Runners } from "../runner.js";

type Tensor = InstanceType<typeof tf.Tensor>;
type Matrix = number[][];

const matrix = (rows: Matrix): Tensor => tf.tensor2d(rows);
const number = (x: Tensor) => x.dataSync()[0]!;
/** A value of a case; null there means unset. */
const set = <T>(value: T | null | undefined) => value ?? undefined;
const ones = (rows: Matrix): Matrix => rows.map((row) => row.map(() => 1));
/** Rows of different lengths, padded. */
const padded = (rows: Matrix): Matrix => {
  const time = Math.max(...rows.map((row) => row.length));
  return rows.map((row) => [...row, ...new Array<number>(time - row.length).fill(0)]);
};
/** One number per row on all of its tokens. */
const onRows = (values: readonly number[], like: Matrix): Matrix =>
  like.map((row, i) => row.map(() => values[i]!));

// Inputs are described in the files themselves.
/* eslint-disable @typescript-eslint/no-explicit-any */

/** A loss at log-probabilities with its gradient and its figures. */
function lossAt(at: Matrix, input: (x: Tensor) => any, options: ActorLossOptions) {
  const of = (x: Tensor) => actorLoss(input(x), options);
  const { value, grad } = tf.valueAndGrad((x: Tensor) => of(x).loss.asScalar())(matrix(at));
  const { metrics } = of(matrix(at));
  return { loss: number(value), gradient: grad.arraySync() as Matrix, metrics };
}

const trlLosses: Readonly<Record<string, ActorLossOptions>> = {
  grpo: { loss: "two_sided", aggregation: "seq-mean-token-mean" },
  bnpo: { loss: "two_sided", aggregation: "token-mean" },
  dapo: { loss: "two_sided", aggregation: "token-mean" },
  dr_grpo: { loss: "two_sided", aggregation: "seq-mean-token-sum-norm" },
  cispo: { loss: "cispo", aggregation: "token-mean", aggregationRule: "trl" },
  sapo: { loss: "sapo", aggregationRule: "trl" },
  luspo: { loss: "luspo" },
  vespo: { loss: "vespo" },
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

function decoupledLoss(v: any) {
  const { rejection } = v;
  const options = {
    ...{ loss: "decoupled" as const, clipRatioLow: v.eps_clip as number },
    ...{ clipRatioHigh: v.eps_clip_higher ?? v.eps_clip, clipRatioC: v.c_clip ?? 1e9 },
    ratioLevel: v.level,
    ...(rejection
      ? {
          ...{ staleAction: rejection.action, staleLevel: rejection.level },
          ...{ staleMetric: rejection.metric, staleAggregate: rejection.agg },
          ...defined({ staleUpper: rejection.upper, staleLower: set(rejection.lower) }),
        }
      : { staleAction: "none" as const }),
  };
  const fixed = {
    oldLogprobs: matrix(v.proximal_log_prob),
    sampledLogprobs: matrix(v.behaviour_log_prob),
    advantages: matrix(v.advantages),
    mask: matrix(v.mask),
  };
  const { loss, gradient, metrics } = lossAt(
    v.log_prob,
    (logprobs) => ({ ...fixed, logprobs }),
    options as ActorLossOptions,
  );
  const tokens = (v.mask as Matrix).flat().reduce((a, b) => a + b, 0);
  const count = (share: Tensor) => Math.round(number(share) * tokens);
  const rows = (v.mask as Matrix).map((mask, r): LossRow => ({
    ...{ logprobs: v.log_prob[r], oldLogprobs: v.proximal_log_prob[r], mask },
    ...{ sampledLogprobs: v.behaviour_log_prob[r], advantages: v.advantages[r] },
  }));
  return {
    loss,
    grad_log_prob: gradient,
    clipped: count(metrics.pg_clipfrac),
    dual_clipped: count(metrics.pg_clipfrac_lower),
    behaviour_weight: staleWeights(rows, settingsOf(decoupled as never, options) as never).map(
      ({ weights }) => weights,
    ),
    filtered_fraction: count(metrics["stale_changed"]!) / Math.max(1, tokens),
  };
}

function bypass(v: any) {
  const { loss_type, rollout_is, ...keys } = v.rollout_correction;
  const correction = correctionOf(
    {
      ...{ mode: "bypass", bypassLoss: loss_type, weights: rollout_is },
      threshold: keys.rollout_is_threshold,
      normalize: keys.rollout_is_batch_normalize,
    } satisfies RolloutCorrection,
    [],
  )!;
  const [oldLogprobs, mask] = [matrix(v.old_log_prob), matrix(v.response_mask)];
  const options: ActorLossOptions = {
    ...{ loss: loss_type === "reinforce" ? "gpg" : "vanilla", aggregation: v.loss_agg_mode },
    ...{ aggregationRule: "verl-0.9.1", clipRatioLow: 0.2, clipRatioHigh: 0.28, clipRatioC: 3 },
  };
  const input = (logprobs: Tensor) => {
    const rolloutWeights = bypassWeights(logprobs, oldLogprobs, mask, correction);
    const given = { logprobs, oldLogprobs, advantages: matrix(v.advantages), mask };
    return { ...given, ...defined({ rolloutWeights }) };
  };
  const { loss, gradient } = lossAt(v.log_prob, input, options);
  return { loss, grad_log_prob: gradient };
}

function primeRl(v: any) {
  const advantages = padded(v.advantages).map((row) => row.map((a) => a * v.adv_tau));
  const fixed = {
    ...{ oldLogprobs: matrix(padded(v.inference_log_prob)) },
    ...{ advantages: matrix(advantages), mask: matrix(padded(v.loss_mask)) },
  };
  const { loss, gradient } = lossAt(
    padded(v.trainer_log_prob),
    (logprobs) => ({ ...fixed, logprobs }),
    { loss: v.loss === "ipo" ? "prime_ipo" : "prime_rl", samplerPull: v.kl_tau },
  );
  return {
    loss,
    grad_trainer_log_prob: (v.trainer_log_prob as Matrix).map((row, r) =>
      gradient[r]!.slice(0, row.length),
    ),
  };
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

const distilling = completed(distillationTable, {}, {});

function verlDistillation(v: any) {
  const { config } = v;
  const settings = {
    ...distilling,
    distillationKind: config.loss_mode,
    ...(config.loss_max_clamp === null ? {} : { distillationClamp: config.loss_max_clamp }),
  };
  const [teacher, mask] = [matrix(v.teacher_log_prob), matrix(v.response_mask)];
  const apart = (student: Tensor) => tokenDivergence(student, teacher, settings);
  const token_divergence = tokenDivergence(matrix(v.student_log_prob), teacher, {
    ...settings,
    distillationClamp: undefined as never,
  }).arraySync();
  const tokens = (v.response_mask as Matrix).flat().reduce((a, b) => a + b, 0);
  // Where there is no token the source raises; the library's loss is 0.
  if (tokens === 0) return { token_divergence, error: "RuntimeError" };
  const rolloutWeights = v.rollout_is_weights ? matrix(v.rollout_is_weights) : undefined;
  const how = { aggregation: v.loss_agg_mode, aggregationRule: "verl-0.9.1" as const };
  const distilled = (student: Tensor): Tensor => {
    if (!config.use_policy_gradient) {
      return aggregateLoss(apart(student), mask, v.loss_agg_mode, { rule: "verl-0.9.1" });
    }
    const advantages = apart(matrix(v.student_log_prob)).neg();
    const input = { logprobs: student, oldLogprobs: matrix(v.old_log_prob), advantages, mask };
    return actorLoss({ ...input, ...defined({ rolloutWeights }) }, { ...how, clipRatio: 0.2 }).loss;
  };
  const { value, grad } = tf.valueAndGrad((x: Tensor) => {
    const loss: Tensor = distilled(x);
    return (
      config.use_task_rewards
        ? loss.mul(config.distillation_loss_coef).add(v.task_policy_loss)
        : loss
    ).asScalar();
  })(matrix(v.student_log_prob));
  return { token_divergence, loss: number(value), grad_student_log_prob: grad.arraySync() };
}

function rlsdSdar(v: any) {
  const taught = { student: v.student_log_prob, teacher: v.teacher_log_prob, mask: v.mask };
  const settings = { ...distilling, distillationKind: "sdar" as const, sdarBeta: v.gate_beta };
  const { value, grad } = tf.valueAndGrad((x: Tensor) =>
    aggregateLoss(
      tokenDivergence(x, matrix(v.teacher_log_prob), settings),
      matrix(v.mask),
      "token-mean",
    ).asScalar(),
  )(matrix(v.student_log_prob));
  return {
    rlsd_advantages: scaledByTeacher(v.advantages, taught, {
      ...{ rlsdLambda: v.lambda, rlsdClip: v.clip },
    }),
    sdar_loss: number(value),
    sdar_grad_student_log_prob: grad.arraySync(),
  };
}

function reverseKlAdvantage(v: any) {
  // slime takes it off every token and leaves the mask to the loss; of its own accord it discounts nothing.
  const slime = v.form === "slime";
  const given = { student: v.student_log_prob, teacher: v.teacher_log_prob };
  const credit = teacherCredit(
    { ...given, mask: slime ? ones(v.mask) : v.mask },
    {
      ...distilling,
      distillationCoefficient: v.coef,
      distillationDiscount: slime ? 0 : v.discount,
    },
  );
  const gaps = (v.student_log_prob as Matrix).map((row, i) =>
    row.map((p, t) => p - v.teacher_log_prob[i][t]),
  );
  const counted = gaps.flatMap((row, i) => row.filter((_, t) => v.mask[i][t]));
  return {
    advantages: credit.map((row, i) => Array.from(row, (c, t) => c + v.advantages[i][t])),
    ...(slime
      ? { reverse_kl: gaps }
      : { mean_reverse_kl: counted.reduce((a, b) => a + b, 0) / counted.length }),
  };
}

export const runners: Runners = {
  opd_verl_loss: verlDistillation,
  opd_kl_advantage: reverseKlAdvantage,
  rlsd_sdar: rlsdSdar,
  agentopsd_advantage: (v) => {
    const rows = v.mask as Matrix;
    const taught = { student: v.student_log_prob, teacher: v.teacher_log_prob, mask: rows };
    const advantages = onRows(v.seq_advantage, rows);
    const { mult_lambda: rlsdLambda = 0.5, tether_seq: tether } = v.options;
    if (tether)
      return { advantages: scaledByTeacher(advantages, taught, { rlsdLambda, rlsdClip: 0.2 }) };
    // A trajectory's turns are rows there.
    const episodes = [...new Set(v.traj_uid as string[])].map((uid) => {
      const own = rows.flatMap((_, i) => (v.traj_uid[i] === uid ? [i] : []));
      own.sort((a, b) => v.turn_step[a] - v.turn_step[b]);
      return own;
    });
    const joined = (values: Matrix, own: number[]) => own.flatMap((i) => values[i]!);
    const turns = v.granularity === "turn";
    const found = scaledByBelief(
      episodes.map((own) => ({
        ...{ group: v.uid[own[0]!], reward: v.episode_reward[own[0]!] },
        advantages: joined(advantages, own),
        student: joined(v.student_log_prob, own),
        teacher: joined(v.teacher_log_prob, own),
        mask: joined(rows, own),
        ...(turns ? { parts: own.flatMap((i, turn) => rows[i]!.map((m) => m * (turn + 1))) } : {}),
      })),
      { rlsdLambda, rlsdClip: 0.2, distillationMix: turns ? "belief-turn" : "belief-token" },
    );
    const out: number[][] = [];
    episodes.forEach((own, e) => {
      let at = 0;
      for (const i of own) {
        out[i] = Array.from(found[e]!.subarray(at, at + rows[i]!.length));
        at += rows[i]!.length;
      }
    });
    return { advantages: out };
  },
  sdpo_teacher_context: (v) => {
    const rows = (v.prompts as any[]).map((prompt, i) => ({
      ...{ prompt, group: Math.floor(i / v.num_generations), completion: v.completions[i] },
      reward: v.rewards[i],
      feedback: v.args.include_environment_feedback ? (v.feedbacks[i] ?? undefined) : undefined,
    }));
    const found = siblingPrompts(rows, {
      oneself: !v.args.dont_reprompt_on_self_success,
      feedbackBeside: !v.args.environment_feedback_only_without_solution,
      dropThinking: v.args.remove_thinking_from_demonstration,
    });
    return {
      teacher_prompts: found.map((prompt, i) => prompt ?? rows[i]!.prompt),
      self_distillation_mask: found.map((prompt) => Number(prompt !== undefined)),
    };
  },
  group_advantages_2026: (v) => {
    const scores: number[] = v.rewards ?? v.traces.map(({ reward }: any) => reward as number);
    const input = {
      ...{ rewards: scores.map((r) => [r]), mask: scores.map(() => [1]) },
      groups: v.index ?? scores.map(() => 0),
    };
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
  decoupled_ppo_loss: decoupledLoss,
  bypass_mode_loss: bypass,
  prime_rl_loss: primeRl,
  off_policy_sequence_mask: (v) => {
    const advantages = onRows(v.advantages, v.mask);
    const kept = unmaskedAdvantages(
      {
        ...{ logprobs: matrix(v.log_prob), oldLogprobs: matrix(v.old_log_prob) },
        // A kept advantage is told from one that is left out.
        ...{ advantages: matrix(advantages), mask: matrix(v.mask) },
      },
      v.threshold,
      tensorOps,
    ).arraySync() as Matrix;
    const keep = kept.map((row, r) => row.map((a, t) => Number(a === advantages[r]![t])));
    const plain = (v.mask as Matrix).map((mask, r) => {
      const row = { logprobs: v.log_prob[r], oldLogprobs: v.old_log_prob[r], mask };
      const own = unmaskedRow({ ...row, advantages: advantages[r]! }, v.threshold);
      return Number(own.advantages[0] === advantages[r]![0]);
    });
    return { keep_trl: plain, token_keep_slime: keep };
  },
  trl_grpo_losses: trl,
  loss_reductions_skyrl: reduction,
};

import { defined } from "../../../common/options/defined.js";
import { completed } from "../../../common/options/option-table.js";
import { scaledByBelief, successRates } from "../../../src/learn/distillation/belief.js";
import {
  earlyCredit,
  scaledByTeacher,
  teacherCredit,
} from "../../../src/learn/distillation/divergence.js";
import { distillationTable } from "../../../src/learn/distillation/options.js";
import { requireFinite } from "../../../src/learn/masked.js";
import { siblingFigures, siblingPrompts } from "../../../src/learn/distillation/siblings.js";
import { tokenDivergence } from "../../../src/learn/distillation/vocabulary.js";
import { aggregateLoss } from "../../../src/learn/losses/base/aggregate.js";
import { actorLoss } from "../../../src/learn/losses/losses.js";
import { tf } from "../../../src/tensor/tf.js";
import { type Matrix, matrix, number, ones, onRows, type Tensor } from "../tensors.js";
import type { Runners } from "../runner.js";

// Inputs are described in the files themselves.
/* eslint-disable @typescript-eslint/no-explicit-any */

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

/** AReaL: from the teacher alone, or beside a reward, where its gradient does not contain the teacher: refused here. */
function areal(v: any) {
  const [teacher, behaviour, mask] = [v.teacher_log_prob, v.behaviour_log_prob, v.mask].map(matrix);
  const alone = v.rl_loss_weight === 0;
  const kind = { ...distilling, distillationKind: alone ? "importance" : "k1" } as const;
  const { value, grad } = tf.valueAndGrad((x: Tensor) =>
    aggregateLoss(tokenDivergence(x, teacher!, kind, behaviour), mask!, "token-mean", {
      rule: "verl-0.9.1",
    })
      .mul<Tensor>(v.distill_loss_weight)
      .add(alone ? 0 : v.rl_loss_weight * v.rl_loss)
      .asScalar(),
  )(matrix(v.log_prob));
  return { loss: number(value), grad_log_prob: grad.arraySync() };
}

/** IW-OPD: a plain policy gradient along what the teacher says, weighed by place. */
function importanceWeighted(v: any) {
  const ids = v.completion_tokens as Matrix;
  const mask = (v.labels as Matrix).map((row) => row.map((id) => Number(id !== -100)));
  const teacher = v.teacher_log_prob as Matrix;
  try {
    requireFinite("update", "what the teacher says", teacher, { mask, nameOf: String });
  } catch {
    return { error: "ValueError" };
  }
  const vocabulary = v.student_logits[0][0].length as number;
  const drawn = (logits: Tensor): Tensor =>
    tf
      .oneHot(tf.tensor1d(ids.flat(), "int32"), vocabulary)
      .mul<Tensor>(tf.logSoftmax(logits.div<Tensor>(v.temperature)).reshape([-1, vocabulary]))
      .sum<Tensor>(-1)
      .reshape([ids.length, ids[0]!.length]);
  const at = tf.tensor3d(v.student_logits as number[][][]);
  const student = (v.rollout_log_prob ?? drawn(at).arraySync()) as Matrix;
  const advantages = earlyCredit({ student, teacher, mask }, { ...distilling, iwGamma: v.gamma });
  const tokens = mask.flat().reduce((a, b) => a + b, 0);
  const share = v.num_items_in_batch === null ? 1 : tokens / v.num_items_in_batch;
  const { value, grad } = tf.valueAndGrad((x: Tensor) => {
    const logprobs = drawn(x);
    const input = {
      logprobs,
      oldLogprobs: logprobs,
      advantages: matrix(advantages.map((row) => [...row])),
    };
    const { loss } = actorLoss({ ...input, mask: matrix(mask) }, { loss: "gpg" });
    return loss.mul<Tensor>(share).asScalar();
  })(at);
  return { loss: number(value), grad_student_logits: grad.arraySync() };
}

export const runners: Runners = {
  areal_distillation_loss: areal,
  iw_opd_loss: importanceWeighted,
  opd_verl_loss: verlDistillation,
  opd_kl_advantage: reverseKlAdvantage,
  rlsd_sdar: rlsdSdar,
  agentopsd_advantage: (v) => {
    const rows = v.mask as Matrix;
    const advantages = onRows(v.seq_advantage, rows);
    const { options } = v;
    // A trajectory's turns are rows there.
    const turns = v.granularity === "turn";
    const episodes = [...new Set(v.traj_uid as string[])].map((uid) => {
      const own = rows.flatMap((_, i) => (v.traj_uid[i] === uid ? [i] : []));
      if (turns) own.sort((a, b) => v.turn_step[a] - v.turn_step[b]);
      return own;
    });
    const joined = (values: Matrix, own: number[]) => own.flatMap((i) => values[i]!);
    const replaces = options.use_group_norm ? "group" : "telescope";
    const form = options.tether_seq ? "tether" : options.belief_mult ? "scale" : replaces;
    const told = episodes.map((own) => ({
      ...{ group: v.uid[own[0]!], reward: v.episode_reward[own[0]!] },
      advantages: joined(advantages, own),
      student: joined(v.student_log_prob, own),
      teacher: joined(v.teacher_log_prob, own),
      mask: joined(rows, own),
      ...(turns && {
        parts: own.flatMap((i, turn) => rows[i]!.map((m) => m * (turn + 1))),
        partCount: own.length,
      }),
    }));
    const found = scaledByBelief(
      told,
      {
        ...{ rlsdLambda: options.mult_lambda ?? (options.tether_seq ? 0.5 : 1), rlsdClip: 0.2 },
        distillationMix: turns ? "belief-turn" : "belief-token",
      },
      {
        ...{ form, anchored: options.use_anchoring ?? false, centred: options.center_delta },
        ...{ unsigned: !options.signed && form === "scale", decay: options.belief_decay_gamma },
      },
    );
    const rates = successRates(told);
    const v0: number[] = [];
    const out: number[][] = [];
    episodes.forEach((own, e) => {
      let at = 0;
      for (const i of own) {
        v0[i] = rates[e]!;
        out[i] = Array.from(found[e]!.subarray(at, at + rows[i]!.length));
        at += rows[i]!.length;
      }
    });
    return { v0, advantages: out };
  },
  sdpo_teacher_context: (v) => {
    const rows = (v.prompts as any[]).map((prompt, i) => ({
      ...{ prompt, group: Math.floor(i / v.num_generations), completion: v.completions[i] },
      reward: v.rewards[i],
      feedback: v.args.include_environment_feedback ? (v.feedbacks[i] ?? undefined) : undefined,
    }));
    const options = {
      oneself: !v.args.dont_reprompt_on_self_success,
      feedbackBeside: !v.args.environment_feedback_only_without_solution,
      dropThinking: v.args.remove_thinking_from_demonstration,
    };
    const found = siblingPrompts(rows, options);
    const available = (v.feedbacks as (string | null)[]).filter((said) => said?.trim()).length;
    return {
      teacher_prompts: found.map((prompt, i) => prompt ?? rows[i]!.prompt),
      self_distillation_mask: found.map((prompt) => Number(prompt !== undefined)),
      metrics: {
        ...siblingFigures(rows, options),
        // There it is counted even where it is not used.
        "self_distillation/feedback_available_fraction": available / rows.length,
      },
    };
  },
};

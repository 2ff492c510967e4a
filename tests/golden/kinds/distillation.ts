import { completed } from "../../../common/options/option-table.js";
import { distillationTable } from "../../../src/learn/distillation/options.js";
import {
  ratioWeights,
  teachersLikeliest,
  tokenDivergence,
  vocabularyDivergence,
} from "../../../src/learn/distillation/vocabulary.js";
import { aggregateLoss } from "../../../src/learn/losses/base/aggregate.js";
import { actorLoss } from "../../../src/learn/losses/losses.js";
import { detached } from "../../../src/tensor/detached.js";
import { tf } from "../../../src/tensor/tf.js";
import type { Runners } from "../runner.js";

// Inputs are described in the files themselves.
/* eslint-disable @typescript-eslint/no-explicit-any */

type Tensor = InstanceType<typeof tf.Tensor>;
type Matrix = number[][];

const usual = completed(distillationTable, {}, {});
const number = (x: Tensor) => x.dataSync()[0]!;
const matrix = (rows: Matrix): Tensor => tf.tensor2d(rows);
const times = (a: Matrix, b: readonly number[]): Matrix =>
  a.map((row, i) => row.map((m) => m * b[i]!));

/** ln p of every token, [rows, time, vocabulary] laid out as [tokens, vocabulary]. */
const distributions = (logits: Tensor, temperature = 1): Tensor =>
  tf.logSoftmax(logits.div<Tensor>(temperature)).reshape([-1, logits.shape[2]!]);

/** ln p of the tokens that were drawn. */
function drawn(all: Tensor, ids: Matrix): Tensor {
  const picked = tf.oneHot(tf.tensor1d(ids.flat(), "int32"), all.shape[1]!).mul<Tensor>(all);
  return picked.sum(-1).reshape([ids.length, ids[0]!.length]);
}

/** A loss of the student's logits, with its gradient. */
function atLogits(logits: number[][][], loss: (x: Tensor) => Tensor) {
  const { value, grad } = tf.valueAndGrad((x: Tensor) => loss(x).asScalar())(tf.tensor3d(logits));
  return { loss: number(value), grad_student_logits: grad.arraySync() };
}

function jensenShannon(v: any) {
  const teacher = distributions(tf.tensor3d(v.teacher_logits), v.temperature);
  const shape = (v.student_logits as number[][][]).map((row) => row.map(() => 1));
  const labels = v.labels as Matrix | null;
  const mask = labels ? labels.map((row) => row.map((id) => Number(id !== -100))) : shape;
  const tokens = mask.flat().reduce((a, b) => a + b, 0);
  const own = v.reduction === "sum" ? 1 : labels ? Math.max(1, tokens) : shape.length;
  const by = v.num_items_in_batch ?? own;
  const apart = (x: Tensor): Tensor =>
    vocabularyDivergence(distributions(x, v.temperature), teacher, {
      ...{ distillationBeta: v.beta, distillationTopK: 0, distillationTail: false },
    }).reshape([shape.length, shape[0]!.length]);
  return {
    token_divergence: apart(tf.tensor3d(v.student_logits)).arraySync(),
    ...atLogits(v.student_logits, (x) => apart(x).mul(matrix(mask)).sum().div(by)),
  };
}

/** SDPO's divergence at each token, weighed by the ratio to before the update. */
function sdpoTokens(v: any, x: Tensor, how: any): Tensor {
  const { ids, old, clip, whole, alpha, topk, tail, temperature } = how;
  const student = distributions(x, temperature);
  const teacher = distributions(tf.tensor3d(v.teacher_logits), temperature);
  const own = drawn(student, ids);
  const apart: Tensor = whole
    ? vocabularyDivergence(student, teacher, {
        ...{ distillationBeta: alpha, distillationTopK: topk ?? 0, distillationTail: tail },
      }).reshape(own.shape)
    : tokenDivergence(own, drawn(teacher, ids), { ...usual, distillationKind: "sampled_token" });
  if (clip === null) return apart;
  return apart.mul(ratioWeights(own, old ? matrix(old) : detached(own), clip));
}

function sdpo(v: any) {
  const has = matrix(times(v.completion_mask, v.self_distillation_mask));
  const mask = matrix(v.completion_mask);
  const ids = v.completion_ids as Matrix;
  const distilled = (x: Tensor): Tensor =>
    aggregateLoss(
      sdpoTokens(v, x, {
        ...{ ids, old: v.old_per_token_logps, clip: v.is_clip, whole: v.mode !== "sampled_token" },
        ...{ alpha: v.alpha, topk: v.topk, tail: v.add_tail, temperature: v.temperature },
      }).mul(has),
      mask,
      "seq-mean-token-mean",
      { rule: "trl" },
    );
  const modes = { grpo: "seq-mean-token-mean", dapo: "token-mean" } as Record<string, string>;
  const policy = (x: Tensor): Tensor => {
    const logprobs = drawn(distributions(x, v.temperature), ids);
    const oldLogprobs = v.old_per_token_logps ? matrix(v.old_per_token_logps) : detached(logprobs);
    const advantages = matrix(
      times(
        ids.map((row) => row.map(() => 1)),
        v.advantages,
      ),
    );
    return actorLoss({ logprobs, oldLogprobs, advantages, mask }, {
      ...{ loss: "two_sided", aggregationRule: "trl", clipRatio: 0.2, paddedLength: 8 },
      aggregation: modes[v.loss_type as string] ?? "seq-mean-token-sum-norm",
    } as never).loss;
  };
  const w = v.distillation_weight as number;
  const at = tf.tensor3d(v.student_logits);
  return {
    distillation_loss: number(distilled(at)),
    policy_loss: number(policy(at)),
    ...atLogits(v.student_logits, (x) =>
      w === 1
        ? distilled(x)
        : distilled(x)
            .mul<Tensor>(w)
            .add(policy(x).mul(1 - w)),
    ),
  };
}

function sdpoOfAuthors(v: any) {
  const has = matrix(times(v.response_mask, v.self_distillation_mask));
  return atLogits(v.student_logits, (x) => {
    const apart = sdpoTokens(v, x, {
      ...{ ids: v.responses, old: v.old_log_probs, clip: v.is_clip, temperature: 1 },
      ...{ whole: v.full_logit_distillation, alpha: v.alpha },
      ...{ topk: v.distillation_topk, tail: v.distillation_add_tail },
    });
    const weights = v.rollout_is_weights;
    const weighed = weights ? apart.mul<Tensor>(matrix(weights)) : apart;
    return aggregateLoss(weighed, has, "token-mean", { rule: "verl-0.9.1" });
  });
}

/** verl's forward KL, of a teacher that says its likeliest tokens alone: the others are as good as impossible. */
function forwardTopK(v: any) {
  const logits = v.student_logits as Matrix;
  const ids = v.teacher_topk_ids as Matrix;
  const teacher = logits.map((row, t) => {
    const all = row.map(() => -1e4);
    ids[t]!.forEach((id, i) => (all[id] = v.teacher_topk_log_probs[t][i]));
    return all;
  });
  const settings = {
    distillationTopK: ids[0]!.length,
    ...(v.log_prob_min_clamp === null ? {} : { distillationLeast: v.log_prob_min_clamp as number }),
  };
  const clamped = {
    ...settings,
    ...(v.loss_max_clamp === null ? {} : { distillationClamp: v.loss_max_clamp as number }),
  };
  const found = (x: Tensor, how: typeof clamped) =>
    teachersLikeliest(tf.logSoftmax(x), matrix(teacher), how);
  const { apart, figures } = found(matrix(logits), settings);
  const of = (x: Tensor) => found(x, clamped).apart;
  const { value, grad } = tf.valueAndGrad((x: Tensor) =>
    aggregateLoss(of(x).expandDims(0), matrix([v.mask]), "token-mean", {
      rule: "verl-0.9.1",
    }).asScalar(),
  )(matrix(logits));
  const list = (x: Tensor) => x.arraySync();
  return {
    token_divergence: list(apart),
    token_loss: list(of(matrix(logits))),
    student_mass: list(figures.student_mass),
    teacher_mass: list(figures.teacher_mass),
    overlap_count: list(figures.overlap),
    overlap_token_advantage: list(figures.overlap_advantage),
    loss: number(value),
    grad_student_logits: grad.arraySync(),
  };
}

export const runners: Runners = {
  opd_verl_topk: forwardTopK,
  gkd_jsd_loss: jensenShannon,
  sdpo_loss: sdpo,
  sdpo_official_loss: sdpoOfAuthors,
};

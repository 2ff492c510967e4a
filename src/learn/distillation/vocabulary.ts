import { detached } from "../../tensor/detached.js";
import { embed } from "../../tensor/ops/embed.js";
import { tf } from "../../tensor/tf.js";
import type { Tensor } from "../losses/base/aggregate.js";
import { klPenalty } from "../losses/base/kl.js";
import type { KlKind } from "../losses/base/options.js";
import { widestLogRatio } from "../losses/base/token-rule.js";
import type { DistillationSettings } from "./options.js";

/** prime-rl: how far a token's probability may fall below the sampler's, and what its squared log ratio weighs. */
const [farthestFall, spring] = [0.2, 1e-3];

type Kind = Pick<DistillationSettings, "distillationKind" | "distillationClamp" | "sdarBeta">;

/**
 * prime-rl's: the gap weighed by the ratio to the sampler, 0 where a token has become too unlikely, and a spring back.
 * Beside it which tokens are left.
 */
export function pulledBySampler(student: Tensor, teacher: Tensor, sampled: Tensor) {
  const moved: Tensor = student.sub(sampled);
  const fallen = detached(student).exp<Tensor>().sub<Tensor>(sampled.exp<Tensor>());
  const kept: Tensor = fallen.greaterEqual(-farthestFall).cast("float32");
  const gap = detached(teacher.sub<Tensor>(student));
  const ratio: Tensor = moved.clipByValue(-widestLogRatio, widestLogRatio).exp();
  const gained: Tensor = gap.mul<Tensor>(ratio).mul<Tensor>(kept);
  return { apart: moved.square().mul<Tensor>(spring).sub<Tensor>(gained), kept };
}

/**
 * How far student and teacher are apart at each token, with a gradient in the student. `old` is the student before the
 * update, which `importance` asks for; of `ref_kl` it is the sampler.
 */
export function tokenDivergence(
  student: Tensor,
  teacher: Tensor,
  settings: Kind,
  old: Tensor = detached(student),
): Tensor {
  const { distillationKind: kind, distillationClamp: most, sdarBeta } = settings;
  const gap: Tensor = teacher.sub(student);
  const far: Tensor =
    kind === "sdar"
      ? detached(gap.mul<Tensor>(sdarBeta).sigmoid()).mul(gap)
      : kind === "sampled_token"
        ? detached(gap.neg<Tensor>()).mul(student)
        : kind === "importance"
          ? detached(gap)
              .mul<Tensor>(
                student.sub<Tensor>(old).clipByValue(-widestLogRatio, widestLogRatio).exp(),
              )
              .neg()
          : kind === "ref_kl"
            ? pulledBySampler(student, teacher, old).apart
            : klPenalty(student, teacher, kind as KlKind);
  return most === undefined ? far : far.clipByValue(-most, most);
}

type Form = Pick<
  DistillationSettings,
  "distillationBeta" | "distillationTopK" | "distillationTail"
>;

/** sum p (ln p - ln q) over the last axis. */
const relative = (p: Tensor, q: Tensor): Tensor => p.exp().mul<Tensor>(p.sub(q)).sum(-1);

/** ln of the mean of two distributions, weighed, without leaving the range of floats. */
function mixture(p: Tensor, q: Tensor, weight: number): Tensor {
  const [a, b] = [p.add<Tensor>(Math.log(1 - weight)), q.add<Tensor>(Math.log(weight))];
  const most = detached(tf.maximum(a, b));
  return a.sub<Tensor>(most).exp().add<Tensor>(b.sub<Tensor>(most).exp()).log().add(most);
}

/** Some tokens of each distribution [tokens, vocabulary]; the rest is one more token, or is left out of account. */
function kept(all: Tensor, at: Tensor, tail: boolean): Tensor {
  const flat = all.reshape<Tensor>([-1, 1]);
  const some = embed(flat, at).reshape<Tensor>(at.shape);
  const mass = some.logSumExp<Tensor>(-1, true);
  if (!tail) return some.sub(mass);
  const rest = tf.scalar(1).sub<Tensor>(mass.minimum(-1e-7).exp()).log();
  return tf.concat([some, rest], -1);
}

/** Where the likeliest tokens of each distribution stand, counted through all of them. */
function likeliest(all: Tensor, most: number): Tensor {
  const [tokens, vocabulary] = all.shape as [number, number];
  const { indices } = tf.topk(detached(all), most);
  const from = Int32Array.from({ length: tokens }, (_, i) => i * vocabulary);
  return indices.add(tf.tensor2d(from, [tokens, 1], "int32")).cast("int32");
}

/**
 * How far two distributions over the vocabulary are apart at each token, ln p as [tokens, vocabulary]: with beta 0 the
 * forward KL, with 1 the reverse KL, between them the generalised Jensen-Shannon divergence. Over the student's likeliest
 * tokens alone where a number is given; what is left over is one more token (tail), or both are made whole without it.
 */
export function vocabularyDivergence(student: Tensor, teacher: Tensor, form: Form): Tensor {
  const { distillationBeta: beta, distillationTopK: most, distillationTail: tail } = form;
  const cut = most > 0 && most < student.shape[1]!;
  const at = cut ? likeliest(student, most) : undefined;
  const [p, q] = at ? [kept(student, at, tail), kept(teacher, at, tail)] : [student, teacher];
  if (beta === 0) return relative(q, p);
  if (beta === 1) return relative(p, q);
  const middle = mixture(p, q, beta);
  return relative(q, middle)
    .mul<Tensor>(beta)
    .add(relative(p, middle).mul(1 - beta));
}

/**
 * verl's forward KL over the teacher's likeliest tokens, ln p as [tokens, vocabulary]: neither side is made whole, and a
 * token that would count below 0 counts 0, without a gradient. Beside it what the two sides have in common.
 */
export function teachersLikeliest(
  student: Tensor,
  teacher: Tensor,
  {
    distillationTopK: asked,
    distillationLeast: low,
    distillationClamp: most,
  }: Pick<DistillationSettings, "distillationTopK" | "distillationLeast" | "distillationClamp">,
) {
  const size = student.shape[1]!;
  const count = asked > 0 ? Math.min(asked, size) : size;
  const at = likeliest(teacher, count);
  const bounded = (x: Tensor): Tensor => (low === undefined ? x : x.maximum(low));
  const of = (all: Tensor): Tensor =>
    bounded(embed(all.reshape<Tensor>([-1, 1]), at).reshape<Tensor>(at.shape));
  const [p, q] = [of(teacher), of(student)];
  const terms: Tensor = p.exp().mul(p.sub(q));
  const apart: Tensor = terms.sum<Tensor>(-1).maximum(0);
  // A token of the teacher's that is among the student's own likeliest.
  const own = likeliest(student, count);
  const shared: Tensor = at.expandDims(2).equal(own.expandDims(1)).any(-1).cast("float32");
  const overlap: Tensor = shared.sum(-1);
  return {
    apart: most === undefined ? apart : apart.clipByValue(-most, most),
    figures: {
      student_mass: q.exp().sum<Tensor>(-1),
      teacher_mass: p.exp().sum<Tensor>(-1),
      overlap,
      overlap_advantage: terms
        .neg<Tensor>()
        .mul<Tensor>(shared)
        .sum<Tensor>(-1)
        .div<Tensor>(overlap.maximum(1)),
    },
  };
}

/** A token's ratio to before the update, bounded from above, without a gradient: its weight. */
export function ratioWeights(student: Tensor, old: Tensor, most: number): Tensor {
  const far = detached(student).sub<Tensor>(old).clipByValue(-widestLogRatio, widestLogRatio);
  return far.exp().minimum(most);
}

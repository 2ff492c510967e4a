import type { BatchSequence } from "../batch.js";
import { clamp, widestLogRatio } from "../losses/base/token-rule.js";
import type { Rows } from "../masked.js";
import { type BeliefRow, scaledByBelief } from "./belief.js";
import type { DistillationSettings } from "./options.js";

type Kind = Pick<DistillationSettings, "distillationKind" | "distillationClamp" | "sdarBeta">;

/** How far student and teacher are apart at a token, in plain numbers, of the kinds that an advantage takes. */
export function divergenceAt(student: number, teacher: number, settings: Kind): number {
  const { distillationKind: kind, distillationClamp: most = Infinity } = settings;
  const gap = clamp(teacher - student, -widestLogRatio, widestLogRatio);
  const far =
    kind === "kl" || kind === "k1"
      ? student - teacher
      : kind === "abs"
        ? Math.abs(student - teacher)
        : kind === "mse" || kind === "k2"
          ? (student - teacher) ** 2 / 2
          : clamp(Math.exp(gap) - gap - 1, -10, 10);
  return clamp(far, -most, most);
}

/** What trajectories' tokens are like under student and teacher, and which of them count. */
interface Taught {
  student: Rows;
  teacher: Rows;
  mask: Rows;
}

/**
 * What the teacher adds to the advantage of each token: the divergence taken off, with that of later tokens discounted.
 * As published, tokens that do not count have the part of later ones too: whoever uses it leaves them out.
 */
export function teacherCredit(
  { student, teacher, mask }: Taught,
  settings: Kind & Pick<DistillationSettings, "distillationCoefficient" | "distillationDiscount">,
): Float64Array[] {
  const { distillationCoefficient: coefficient, distillationDiscount: discount } = settings;
  return mask.map((own, i) => {
    const out = new Float64Array(own.length);
    let ahead = 0;
    for (let t = own.length - 1; t >= 0; t--) {
      const here = own[t]
        ? -coefficient * divergenceAt(student[i]![t]!, teacher[i]![t]!, settings)
        : 0;
      ahead = here + discount * ahead;
      out[t] = ahead;
    }
    return out;
  });
}

/** As published: what keeps a share of nothing finite. */
const least = 1e-8;

/**
 * IW-OPD: what the teacher adds, more of it where less has been said before: a token's own times 1 and `iwGamma` of what
 * the tokens from it on make up of all that is said of the trajectory. 0 on tokens that do not count.
 */
export function earlyCredit(
  taught: Taught,
  settings: Kind &
    Pick<DistillationSettings, "distillationCoefficient" | "distillationDiscount" | "iwGamma">,
): Float64Array[] {
  return teacherCredit(taught, settings).map((credit, i) => {
    const own = taught.mask[i]!;
    const sizes = credit.map((c, t) => (own[t] ? Math.abs(c) : 0));
    const all = Math.max(
      sizes.reduce((sum, c) => sum + c, 0),
      least,
    );
    let before = 0;
    return credit.map((c, t) => {
      const weight = 1 + settings.iwGamma * (1 - before / all);
      before += sizes[t]!;
      return own[t] ? c * weight : 0;
    });
  });
}

/**
 * RLSD: a trajectory's advantage, more of it on the tokens whose likelihood under the teacher goes its way. As published,
 * 0 on tokens that do not count.
 */
export function scaledByTeacher(
  advantages: Rows,
  { student, teacher, mask }: Taught,
  { rlsdLambda, rlsdClip }: Pick<DistillationSettings, "rlsdLambda" | "rlsdClip">,
): Float64Array[] {
  return mask.map((own, i) =>
    Float64Array.from(own, (m, t) => {
      if (!m) return 0;
      const advantage = advantages[i]![t]!;
      const gap = Math.sign(advantage) * (teacher[i]![t]! - student[i]![t]!);
      const factor = clamp(Math.exp(gap), 1 - rlsdClip, 1 + rlsdClip);
      return advantage * (1 - rlsdLambda + rlsdLambda * factor);
    }),
  );
}

const beliefRow = ({
  group,
  reward,
  advantages,
  oldLogprobs: student,
  teacherLogprobs: teacher,
  keptMask,
  trajectory,
}: Prepared): BeliefRow => ({
  ...{ group, reward, advantages, student, mask: keptMask ?? trajectory.lossMask },
  ...(teacher && { teacher }),
});

type Prepared = BatchSequence & { oldLogprobs: Float32Array };

/**
 * Writes into trajectories the advantages that an update uses in place of their own, where a teacher is in them; gives how
 * far apart the two are, a mean over tokens. A trajectory without a teacher keeps the reward's part.
 */
export function teach(
  sequences: readonly Prepared[],
  settings: DistillationSettings,
): Record<string, number> {
  const { distillationAdvantage, distillationRewards, distillationMix } = settings;
  const believed = distillationMix.startsWith("belief")
    ? scaledByBelief(sequences.map(beliefRow), settings)
    : undefined;
  let [sum, count] = [0, 0];
  for (const [i, sequence] of sequences.entries()) {
    const { teacherLogprobs: said, oldLogprobs, advantages, trajectory } = sequence;
    const rewards = distillationRewards ? advantages : advantages.map(() => 0);
    const mask = sequence.keptMask ?? trajectory.lossMask;
    mask.forEach((m, t) => {
      if (!said || !m) return;
      sum += oldLogprobs[t]! - said[t]!;
      count++;
    });
    if (!distillationAdvantage && distillationRewards) continue;
    sequence.taughtAdvantages = rewards;
    if (!distillationAdvantage || !said) continue;
    const taught = { student: [oldLogprobs], teacher: [said], mask: [mask] };
    const [own] = believed
      ? [believed[i]!]
      : distillationMix === "scale"
        ? scaledByTeacher([advantages], taught, settings)
        : (distillationMix === "early" ? earlyCredit : teacherCredit)(taught, settings).map(
            (credit) => credit.map((c, t) => (mask[t] ? c + rewards[t]! : 0)),
          );
    sequence.taughtAdvantages = Float32Array.from(own!);
  }
  return {
    "distillation/reverse_kl": count === 0 ? 0 : sum / count,
    "distillation/tokens": count,
  };
}

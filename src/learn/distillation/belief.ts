import { perGroup } from "../estimators/credit.js";
import { clamp, turnsOf } from "../losses/base/token-rule.js";
import type { DistillationSettings } from "./options.js";

/** A trajectory whose success a teacher's belief is followed in. */
export interface BeliefRow {
  group: string | number;
  reward: number;
  advantages: ArrayLike<number>;
  student: ArrayLike<number>;
  /** Unset: the teacher has nothing to say of it. */
  teacher?: ArrayLike<number>;
  mask: ArrayLike<number>;
  /** The number of each token's part, from 1; 0 in none. Default: the turns, the runs of ones in the mask. */
  parts?: ArrayLike<number>;
}

const logit = (p: number) => Math.log(p / (1 - p));
const chance = (l: number) => 1 / (1 + Math.exp(-l));

/** By how much each part of a trajectory moved the belief that it succeeds. */
function moves(shifts: readonly number[], prior: number): number[] {
  let at = logit(prior);
  let before = prior;
  return shifts.map((shift) => {
    at += shift;
    const now = clamp(chance(at), 1e-6, 1 - 1e-6);
    const moved = now - before;
    before = now;
    return moved;
  });
}

/** Among a trajectory's own; alone 0. By tokens the deviation has its epsilon inside the root too. */
function standardized(values: readonly number[], byTokens: boolean): number[] {
  if (values.length < 2) return values.map(() => 0);
  const centre = values.reduce((a, b) => a + b, 0) / values.length;
  const variance = values.reduce((a, v) => a + (v - centre) ** 2, 0) / values.length;
  const width = Math.sqrt(variance + (byTokens ? 1e-6 : 0)) + 1e-6;
  return values.map((v) => (v - centre) / width);
}

/**
 * AgentOPSD's advantages: where a teacher with more to read is surer than the student, the odds of success rise, from
 * the success rate of its prompt on; the turns (or tokens) that moved them most for its outcome get more of its advantage.
 */
export function scaledByBelief(
  rows: readonly BeliefRow[],
  {
    rlsdLambda: lambda,
    rlsdClip: band,
    distillationMix,
  }: Pick<DistillationSettings, "rlsdLambda" | "rlsdClip" | "distillationMix">,
): Float64Array[] {
  const byTokens = distillationMix === "belief-token";
  const rewards = perGroup(
    rows.map(({ group }) => group),
    rows.map(({ reward }) => reward),
  );
  return rows.map(({ group, advantages, student, teacher, mask, parts: given }) => {
    const parts = given ?? (byTokens ? eachToken(mask) : turnsOf(mask));
    const own = rewards.get(group)!;
    const prior = clamp(own.reduce((a, b) => a + b, 0) / own.length, 1e-4, 1 - 1e-4);
    const count = Math.max(0, ...Array.from(parts));
    const shifts = new Array<number>(count).fill(0);
    for (let t = 0; t < mask.length; t++) {
      if (mask[t] && teacher) shifts[parts[t]! - 1]! += teacher[t]! - student[t]!;
    }
    const z = standardized(moves(shifts, prior), byTokens);
    return Float64Array.from(mask, (m, t) => {
      if (!m) return 0;
      const advantage = advantages[t]!;
      if (!teacher) return advantage;
      const factor = 1 + band * Math.sign(advantage) * z[parts[t]! - 1]!;
      return advantage * (1 - lambda + lambda * clamp(factor, 1 - band, 1 + band));
    });
  });
}

/** Every token that counts is a part of its own. */
function eachToken(mask: ArrayLike<number>): number[] {
  let count = 0;
  return Array.from(mask, (m) => (m ? ++count : 0));
}

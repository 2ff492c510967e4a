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
  /** How many parts it has, where the last ones have no token. Default: the greatest number. */
  partCount?: number;
}

/** What the published code can do besides; the published runs do none of it. */
export interface BeliefForm {
  /**
   * What becomes of the moves: they `scale` the advantage; they add up to the reward less the success rate
   * (`telescope`); they are normalised over the prompt's parts (`group`); or each part scales the advantage by its own
   * mean gap, without a belief (`tether`: RLSD's rule). Default: `scale`.
   */
  form?: "scale" | "telescope" | "group" | "tether";
  /** `telescope`, `group`: a move has the sign of the advantage. Default: false. */
  anchored?: boolean;
  /** `scale`: by how far the belief moved, whichever way. Default: false. */
  unsigned?: boolean;
  /** Take the mean off a trajectory's gaps first. Default: false. */
  centred?: boolean;
  /** What the gaps before a part still count for it, per part. Default: 1. */
  decay?: number;
}

/** As published: what keeps odds and divisors finite. */
const least = 1e-6;

const logit = (p: number) => Math.log(p / (1 - p));
const chance = (l: number) => 1 / (1 + Math.exp(-l));

/** By how much each part of a trajectory moved the belief that it succeeds. */
function moves(shifts: readonly number[], prior: number, decay: number): number[] {
  let far = 0;
  let before = prior;
  return shifts.map((shift) => {
    far = decay * far + shift;
    const now = clamp(chance(logit(prior) + far), least, 1 - least);
    const moved = now - before;
    before = now;
    return moved;
  });
}

/** Less their mean, over their population deviation; alone 0. By tokens the deviation has its epsilon inside the root too. */
function standardized(values: readonly number[], byTokens = false): number[] {
  if (values.length < 2) return values.map(() => 0);
  const centre = mean(values);
  const variance = mean(values.map((v) => (v - centre) ** 2));
  const width = Math.sqrt(variance + (byTokens ? least : 0)) + least;
  return values.map((v) => (v - centre) / width);
}

const mean = (values: readonly number[]) =>
  values.reduce((a, b) => a + b, 0) / Math.max(1, values.length);

/** A trajectory in parts: by how much each moved the belief, from what prior. */
interface Believed {
  row: BeliefRow;
  parts: ArrayLike<number>;
  prior: number;
  moved: number[];
  /** The mean gap between teacher and student over a part's tokens. */
  gaps: number[];
}

function believed(row: BeliefRow, prior: number, byTokens: boolean, form: BeliefForm): Believed {
  const { student, teacher, mask, parts = byTokens ? eachToken(mask) : turnsOf(mask) } = row;
  const count = row.partCount ?? Math.max(0, ...Array.from(parts));
  const [sums, tokens] = [new Array<number>(count).fill(0), new Array<number>(count).fill(0)];
  for (let t = 0; t < mask.length; t++) {
    if (!mask[t]) continue;
    tokens[parts[t]! - 1]!++;
    if (teacher) sums[parts[t]! - 1]! += teacher[t]! - student[t]!;
  }
  // As published: the only turn of a trajectory is not centred.
  const off = form.centred && (byTokens || count > 1) ? mean(sums) : 0;
  const shifts = sums.map((sum) => sum - off);
  return {
    ...{ row, parts, prior, moved: moves(shifts, prior, form.decay ?? 1) },
    gaps: sums.map((sum, part) => sum / Math.max(1, tokens[part]!)),
  };
}

/** What the parts of every trajectory get in place of its advantage. */
function inParts(all: readonly Believed[], form: BeliefForm): number[][] {
  const based = all.map(({ row, parts, moved }) =>
    moved.map((move, part) => {
      if (!form.anchored) return move;
      const at = Array.from(parts).indexOf(part + 1);
      return at < 0 ? 0 : Math.sign(row.advantages[at]!) * Math.abs(move);
    }),
  );
  if (form.form === "group") {
    const pools = perGroup(
      all.map(({ row }) => row.group),
      based,
    );
    const normal = new Map([...pools].map(([group, lists]) => [group, lists.flat()]));
    for (const [group, values] of normal) {
      if (values.length > 1) normal.set(group, standardized(values));
    }
    const taken = new Map<string | number, number>();
    return based.map((moved, i) => {
      const { group } = all[i]!.row;
      const from = taken.get(group) ?? 0;
      taken.set(group, from + moved.length);
      return normal.get(group)!.slice(from, from + moved.length);
    });
  }
  return based.map((moved, i) => {
    const sum = moved.reduce((a, b) => a + b, 0);
    const { row, prior } = all[i]!;
    return moved.map((move) => (Math.abs(sum) > least ? (move * (row.reward - prior)) / sum : 0));
  });
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
  form: BeliefForm = {},
): Float64Array[] {
  const byTokens = distillationMix === "belief-token";
  const priors = successRates(rows);
  const all = rows.map((row, i) => believed(row, priors[i]!, byTokens, form));
  const replaced =
    form.form === "telescope" || form.form === "group" ? inParts(all, form) : undefined;
  return all.map(({ row: { advantages, teacher, mask }, parts, moved, gaps }, i) => {
    const sizes = form.unsigned ? moved.map(Math.abs) : moved;
    const z = standardized(sizes, byTokens);
    return Float64Array.from(mask, (m, t) => {
      if (!m) return 0;
      const [advantage, part] = [advantages[t]!, parts[t]! - 1];
      if (!teacher) return advantage;
      if (replaced) return replaced[i]![part]!;
      const towards = form.unsigned ? 1 : Math.sign(advantage);
      const factor =
        form.form === "tether" ? Math.exp(towards * gaps[part]!) : 1 + band * towards * z[part]!;
      return advantage * (1 - lambda + lambda * clamp(factor, 1 - band, 1 + band));
    });
  });
}

/** The success rate of each trajectory's prompt, as published the mean of its rewards, away from 0 and 1. */
export function successRates(rows: readonly Pick<BeliefRow, "group" | "reward">[]): number[] {
  const rewards = perGroup(
    rows.map(({ group }) => group),
    rows.map(({ reward }) => reward),
  );
  return rows.map(({ group }) => clamp(mean(rewards.get(group)!), 1e-4, 1 - 1e-4));
}

/** Every token that counts is a part of its own. */
function eachToken(mask: ArrayLike<number>): number[] {
  let count = 0;
  return Array.from(mask, (m) => (m ? ++count : 0));
}

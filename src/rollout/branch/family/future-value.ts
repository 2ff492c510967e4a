import * as exact from "../../../base/exact/index.js";
import { checkArguments } from "../../../../common/options/check-arguments.js";
import { checkOptions, finite } from "../../../../common/options/check-options.js";

/** An initial rollout, token by token, as candidates are found in it. */
export interface RatedTrajectory {
  /** 1 where the policy wrote. */
  mask: ArrayLike<number>;
  /** True where a token's text says nothing: never chosen, but part of the z-scores. */
  blank: ArrayLike<boolean>;
  entropies: ArrayLike<number>;
  /** What follows under the policy of now, as `valuesAhead` gives it; without it entropy alone counts. */
  future?: ArrayLike<number> | undefined;
}

/** A token to branch after. */
export interface BranchPoint {
  trajectory: number;
  token: number;
  score: number;
}

/**
 * The future value of each token: exp of the discounted sum of the log-ratios (policy of now against
 * the one that sampled) from there on, within 1 ± clip where clip is above 0. Tokens that are masked out
 * add nothing but count as distance.
 */
export function valuesAhead(
  logRatios: ArrayLike<number>,
  mask: ArrayLike<number>,
  options: { gamma?: number; clip?: number } = {},
): number[] {
  checkArguments("look ahead", { logRatios, mask }, { logRatios: "list", mask: "list" });
  checkOptions("look ahead", options, { gamma: finite, clip: finite });
  const { gamma = 1, clip = 0.2 } = options;
  const values = new Array<number>(logRatios.length);
  let sum = 0;
  for (let t = logRatios.length - 1; t >= 0; t--) {
    sum = gamma * sum + (mask[t] ? logRatios[t]! * mask[t]! : 0);
    const value = exact.exp(Math.min(20, Math.max(-20, sum)));
    values[t] = clip > 0 ? Math.min(1 + clip, Math.max(1 - clip, value)) : value;
  }
  return values;
}

/** Rounding alone must not decide: such a distance from the mean is none. */
const noise = 1e-12;

/** Distances from the mean in units of `deviation`'s answer, over the places given. */
function zScores(
  values: ArrayLike<number>,
  places: readonly number[],
  deviation: (variance: number) => number,
): number[] {
  let sum = 0;
  for (const t of places) sum += values[t]!;
  const mean = sum / places.length;
  const from = places.map((t) => {
    const distance = values[t]! - mean;
    return Math.abs(distance) < noise ? 0 : distance;
  });
  let squares = 0;
  for (const distance of from) squares += distance ** 2;
  const unit = deviation(squares / places.length);
  return from.map((distance) => distance / unit);
}

/** A token that may be branched after. */
interface Candidate extends BranchPoint {
  /** Uncertain, and of influence. */
  strict: boolean;
}

/** The candidates of one initial rollout, in order of position. */
export function ratedCandidates(
  trajectory: number,
  { mask, blank, entropies, future }: RatedTrajectory,
): Candidate[] {
  const places = Array.from({ length: mask.length }, (_, t) => t).filter((t) => mask[t]);
  const eased = (variance: number) => Math.sqrt(variance) + 1e-6;
  const uncertain = zScores(entropies, places, eased);
  const telling = future && zScores(future, places, eased);
  return places.flatMap((token, i) => {
    if (blank[token]) return [];
    const h = uncertain[i]!;
    const score = telling ? h * telling[i]! : h;
    return [
      { trajectory, token, score, strict: h > 0 && score > 0 && (!telling || telling[i]! > 0) },
    ];
  });
}

/** The order in which candidates are taken: the strict ones by score, then the others by score. */
export function strictFirst<C extends { strict: boolean; score: number }>(
  candidates: readonly C[],
): C[] {
  const byScore = [...candidates].sort((a, b) => b.score - a.score);
  return [...byScore.filter((c) => c.strict), ...byScore.filter((c) => !c.strict)];
}

/** The tokens above the mean, in order of position. */
export function candidatesAboveMean(
  meaningless: readonly boolean[],
  entropies: ArrayLike<number>,
  future?: ArrayLike<number>,
): Candidate[] {
  const places: number[] = [];
  meaningless.forEach((out, t) => {
    if (!out) places.push(t);
  });
  const plain = (variance: number) => (variance <= 1e-16 ? 1 : Math.sqrt(variance));
  const uncertain = zScores(entropies, places, plain);
  const telling = future && zScores(future, places, plain);
  return places.flatMap((token, i) => {
    const h = uncertain[i]!;
    const score = telling ? h * telling[i]! : h;
    const chosen = score > 0 && (!telling || (h > 0 && telling[i]! > 0));
    return chosen ? [{ trajectory: 0, token, score, strict: true }] : [];
  });
}

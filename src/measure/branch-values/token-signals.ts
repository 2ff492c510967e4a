import { groupMixed, type SeenTrajectory, windowMeans } from "./measured-trajectory.js";

/** Gives each token a number; tokens are looked at from the greatest on. */
export type TokenSignal = (trajectory: SeenTrajectory) => ArrayLike<number>;

/** Those that decided variance is compared with, where nobody names others. */
export const usualSignals: Readonly<Record<string, TokenSignal>> = {
  entropy: (t) => t.entropies,
  "entropy of the next 20": (t) => windowMeans(t.entropies, 20),
  "nearness to a result": (t) => t.sinceResult.map((since) => -since),
  "group outcomes": (t) => groupMixed(t).map(({ variance }) => variance),
};

/**
 * The share of all tokens where a signal is greatest, as weights: tokens that tie at the cut share what is left
 * of it.
 */
export function greatestTokens(
  values: readonly ArrayLike<number>[],
  share: number,
): Float64Array[] {
  const all = Float64Array.from(values.flatMap((own) => Array.from(own))).sort();
  const wanted = Math.max(1, Math.round(share * all.length));
  const cut = all[all.length - wanted] ?? 0;
  let [above, equal] = [0, 0];
  for (const value of all) {
    if (value > cut) above++;
    else if (value === cut) equal++;
  }
  const part = equal > 0 ? (wanted - above) / equal : 0;
  return values.map((own) =>
    Float64Array.from(own, (value) => (value > cut ? 1 : value === cut ? part : 0)),
  );
}

/** Of each token: tokens since the last result, and until the next. */
export function distancesOf(t: SeenTrajectory): { since: number; to: number }[] {
  let to = Infinity;
  const found = t.sinceResult.map((since) => ({ since, to }));
  for (let i = found.length - 1; i >= 0; i--) {
    to++;
    found[i]!.to = to;
    if (t.sinceResult[i] === 0) to = 0;
  }
  return found;
}

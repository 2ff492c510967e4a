/** Whose likelihood a ratio is about: each token's (`ppo`), or the whole row's (`gspo`). */
export type RatioKind = "ppo" | "gspo";

/** Bounds a row's exponent so that one runaway row cannot overflow. */
export const largestLogRatio = 10;

/** What a token's ratio is computed from. */
export interface RatioInput {
  logprob: number;
  oldLogprob: number;
  /** Mean of logprob - oldLogprob over the trained tokens of its row: `rowLogRatio`. */
  rowLogRatio: number;
}

/** The mean of ln p - ln p_old over the tokens of a row that are trained; 0 where none is. */
export function rowLogRatio(
  logprobs: ArrayLike<number>,
  oldLogprobs: ArrayLike<number>,
  mask: ArrayLike<number>,
): number {
  let sum = 0;
  let count = 0;
  for (let t = 0; t < mask.length; t++) {
    if (!mask[t]) continue;
    sum += logprobs[t]! - oldLogprobs[t]!;
    count++;
  }
  return sum / Math.max(1, count);
}

/**
 * The ratio that an objective gives a token, as one number: its own under PPO, under GSPO its row's,
 * whose exponent is bounded as in the loss.
 */
export function tokenRatio(input: RatioInput, kind: RatioKind = "ppo"): number {
  const { logprob, oldLogprob, rowLogRatio: ofRow } = input;
  return Math.exp(kind === "gspo" ? Math.min(largestLogRatio, ofRow) : logprob - oldLogprob);
}

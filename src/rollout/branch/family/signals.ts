/**
 * What a token is ranked by: the entropy of the whole distribution, that of the ten most likely alternatives
 * (not renormalised), -ln p of the token drawn, or APPO's score.
 */
export const branchSignals = ["entropy", "top-entropy", "surprisal", "appo"] as const;

export type BranchSignal = (typeof branchSignals)[number];

/** What a function that ranks tokens is told of one. */
export interface RankedToken {
  /** The trajectory, and which of the tokens that it drew this is. */
  trajectory: number;
  index: number;
  text: string;
  entropy: number;
  logprob: number;
  /** Tokens that the trajectory still drew from here on, this one included. */
  left: number;
  /** Tool results before it, and tokens drawn since the last one: 0 right after it, Infinity before the first. */
  calls: number;
  sinceResult: number;
}

/** Gives a token the number that it is ranked by: the greatest are branched at. */
export type TokenRanking = (token: RankedToken) => number;

/**
 * What places are ranked by: `random` gives each a number at random, so that all are chosen alike; `own` is a
 * function that the rollout was given; `group-mixed` (rule `redraw` alone) is how mixed the outcomes of forks are to
 * be expected, per token that is left, by the outcomes of the first trajectories that share the text so far.
 */
export type RankingSignal = BranchSignal | "random" | "own" | "group-mixed";

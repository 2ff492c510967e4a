/** A signal of tokens. */
interface SignalFacts {
  /** What a page calls it. */
  readonly words: string;
  /** It is made of the alternatives that a policy reports beside a token. */
  readonly needsTop?: true;
  /** Where it is not a token's own: the signal that it compares among the tokens of a trajectory. */
  readonly compares?: OwnSignal;
}

/** What one token shows by itself. */
const ownSignals = {
  entropy: { words: "entropy" },
  "top-entropy": { words: "entropy of the ten most likely", needsTop: true },
  surprisal: { words: "-ln p" },
} as const;

export type OwnSignal = keyof typeof ownSignals;

const signals = {
  ...ownSignals,
  appo: { words: "APPO's score", needsTop: true, compares: "top-entropy" },
} as const satisfies Record<string, SignalFacts>;

export type BranchSignal = keyof typeof signals;

/**
 * What a token is ranked by: the entropy of the whole distribution, that of the ten most likely alternatives
 * (not renormalised), -ln p of the token drawn, or a score that a method gives it among its trajectory's.
 */
export const branchSignals = Object.keys(signals) as readonly BranchSignal[];

/** What is known of a signal; of one that is no token's own figure, nothing. */
export const factsOf = (signal: string): Partial<SignalFacts> =>
  (signals as Readonly<Record<string, SignalFacts>>)[signal] ?? {};

/** What pages call them. */
export const branchSignalWords = Object.fromEntries(
  branchSignals.map((name) => [name, signals[name].words]),
) as { readonly [S in BranchSignal]: string };

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
 * function that the rollout was given; `group-mixed` (for a rule that draws tokens anew) is how mixed the outcomes
 * of forks are to be expected, per token that is left, by those of the first trajectories that share the text so far.
 */
export type RankingSignal = BranchSignal | "random" | "own" | "group-mixed";

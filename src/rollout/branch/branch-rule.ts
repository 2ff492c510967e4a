/** The numbers that rules which decide after calls are set to. */
export interface BranchNumbers {
  /**
   * `branch_probability`: p. The base probability in `arpo-code` and `seed-docs`; the bar in
   * `aepo-code`, whose base probability is therefore 1 - p; alpha in the papers' rules.
   */
  probability: number;
  /** `entropy_weight`: w, the papers' beta and gamma. */
  weight: number;
  /** The papers' tau. */
  threshold: number;
  /** What one consecutive branching takes from the score in the AEPO rules. */
  penaltySlope: number;
}

/** What one attempt at a branch depends on. */
export interface BranchSituation {
  /** The uniform draw in [0, 1); the papers' rules do not look at it. */
  u: number;
  entropy: number;
  baseline: number;
  /** Branchings in a row so far; only the AEPO rules look at it. */
  consecutive: number;
}

/** What a rule decided, and everything it decided by. */
export interface BranchVerdict {
  branch: boolean;
  /** Entropy now minus baseline. */
  delta: number;
  /** What is compared with `bar`: the clamped score of the codes' rules, P of the papers'. */
  score: number;
  bar: number;
  /** Chance that a fresh draw branches here: 0 or 1 for the papers' rules. */
  probability: number;
  /** The comparison in words and numbers. */
  reason: string;
}

import type { BranchVerdict } from "../branch/branch-rule.js";
import type { BranchSettings } from "../rules/decide-branch.js";
import type { ExpansionSettings } from "../rules/registry.js";

/** One attempt as it would have gone. */
export interface ReplayAttempt extends BranchVerdict {
  /** The node it stands after. */
  node: number;
  trajectory: number;
  round: number;
  attempt: number;
  u: number;
  entropy: number;
  baseline: number;
  consecutive: number;
  remaining: number;
  /** What was decided when the tree was made; undefined if nothing was tried here. */
  was: boolean | undefined;
}

/** A place where a rule would have branched. */
export interface ReplayPoint {
  round: number;
  /** Its place among the branches of its round. */
  order: number;
  trajectory: number;
  /** Tokens of the response that the branch keeps. */
  at: number;
  /** What the rule ranked or decided by; 0 where it drew lots or counts alone. */
  score: number;
  /** The place in the response of the token it was chosen for. */
  token?: number;
  /** The trajectory of the tree that does so; left out if there is none. */
  child?: number;
}

/** What another setting would have done with the same tree and the same draws. */
export interface Replay {
  settings: BranchSettings | ExpansionSettings;
  /** Every attempt at a branch; none where a rule looks at what has been written. */
  attempts: ReplayAttempt[];
  /** Every branch, in the order in which they would have been made. */
  points: ReplayPoint[];
  /** Branches it would have made, and those the tree has. */
  branches: number;
  before: number;
  /** Branches it would have made whose trajectories the tree does not have: their later rounds are unknown. */
  unseen: number;
  /** Trajectories of the tree that would not exist. */
  missing: number[];
}

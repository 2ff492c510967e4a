import type { BranchSettings, BranchVerdict } from "./branch-rule.js";
import { followPlan } from "./follow-plan.js";
import { planReplay } from "./replay-plan.js";
import type { RolloutTree } from "./rollout-tree.js";

/** What `replay` may change. In brackets the names in `RolloutOptions`. */
export interface ReplayChanges extends Partial<BranchSettings> {
  /** How consecutive branchings are counted. */
  penalty?: "prompt" | "path";
}

/** One attempt as it would have gone. */
export interface ReplayAttempt extends BranchVerdict {
  /** The node it stands after. */
  node: number;
  row: number;
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

/** What another setting would have done with the same tree and the same draws. */
export interface Replay {
  settings: BranchSettings;
  attempts: ReplayAttempt[];
  /** Branches it would have made, and those the tree has. */
  branches: number;
  before: number;
  /** Branches it would have made whose rows the tree does not have: their later rounds are unknown. */
  unseen: number;
  /** Rows of the tree that would not exist. */
  missing: number[];
}

/** Replays the branch decisions of a tree under other settings. */
export function replayBranches(tree: RolloutTree, changes: ReplayChanges): Replay {
  return followPlan(planReplay(tree), changes);
}

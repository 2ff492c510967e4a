import type { Sequence, Segment } from "../../policy/policy.js";
import type { Random } from "../../base/random/random.js";
import type {
  TrajectoryChoice,
  TrajectoryEnd,
  TrajectoryKind,
  TrajectoryOutcome,
  TreeNode,
} from "../tree/tree-values.js";
import type { Episode } from "./episode.js";

/** A node while the tree grows: nodes are numbered at the end, so that numbers do not depend on timing. */
export interface LiveNode extends Omit<TreeNode, "id" | "parent"> {
  parent: LiveNode | undefined;
}

/** A segment, and when it was written, in milliseconds since the rollout began. */
export interface Written {
  segment: Segment;
  start: number;
  end: number;
}

/** A trajectory while the tree grows. */
export interface LiveTrajectory {
  id: number;
  kind: TrajectoryKind;
  round: number;
  parent: number;
  from: LiveNode | undefined;
  leaf: LiveNode | undefined;
  handle: Sequence;
  /** The trajectory's own sampling stream. */
  random: Random;
  /** Tokens of the response so far, and those of them that it shares with the trajectory it left. */
  length: number;
  split: number;
  calls: number;
  /** Its number in the batch, for tables that are shared between prompts. */
  key: number;
  /** The entropy of its last segment, and the one it is compared with. */
  entropy: number;
  baseline: number | undefined;
  /** Branchings in a row along its path, as of the last round that is decided. */
  consecutive: number;
  end: TrajectoryEnd | undefined;
  /** What the trajectory does in its environment, from its first call there on. */
  episode?: Episode;
  /** What the environment says of the trajectory, once it has ended. */
  outcome?: TrajectoryOutcome;
  chosen?: TrajectoryChoice;
  /** Its first segment, where that was begun before the trajectory was. */
  begun?: Promise<Written> | undefined;
}

/** A surviving trajectory at the end of a round: the state a branch would copy. */
export interface BranchPoint {
  trajectory: LiveTrajectory;
  /** A session sequence that stands there; the trajectory's own unless it has already continued. */
  handle: Sequence;
  owned: boolean;
  node: LiveNode;
  length: number;
  calls: number;
  entropy: number;
  baseline: number;
  /** The environment as it stood; the trajectory's own unless the trajectory has already continued. */
  episode?: Episode | undefined;
}

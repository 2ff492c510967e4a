import type { Sequence, Segment } from "../../policy/policy.js";
import type { Random } from "../../random/random.js";
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

/** A row while the tree grows. */
export interface LiveTrajectory {
  id: number;
  kind: TrajectoryKind;
  round: number;
  parent: number;
  from: LiveNode | undefined;
  leaf: LiveNode | undefined;
  handle: Sequence;
  /** The row's own sampling stream. */
  random: Random;
  /** Tokens of the response so far, and those of them that it shares with the row it left. */
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
  /** What the row does in its environment, from its first call there on. */
  episode?: Episode;
  /** What the environment says of the row, once it has ended. */
  outcome?: TrajectoryOutcome;
  chosen?: TrajectoryChoice;
  /** Its first segment, where that was begun before the row was. */
  begun?: Promise<Written> | undefined;
}

/** A surviving row at the end of a round: the state a branch would copy. */
export interface BranchPoint {
  trajectory: LiveTrajectory;
  /** A session row that stands there; the row's own unless it has already gone on. */
  handle: Sequence;
  owned: boolean;
  node: LiveNode;
  length: number;
  calls: number;
  entropy: number;
  baseline: number;
  /** The environment as it stood; the row's own unless the row has already gone on. */
  episode?: Episode | undefined;
}

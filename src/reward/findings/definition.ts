import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { ScoredTrajectory } from "../scored.js";
import type { TokenRow } from "./token-rows.js";

/** A trajectory that shows a finding, and which of its tokens do. */
export interface FindingPlace {
  group: string;
  /** The trajectory's number in its tree. */
  row: number;
  /** The tree's place in its batch. */
  tree: number;
  /** Tokens of the response that show it, as pairs of a first one and the one after the last. */
  tokens?: readonly (readonly [from: number, to: number])[];
}

/** Something about rollouts that a person should know before training on them. */
export interface Finding {
  /** Its name in the registry. */
  kind: string;
  /** What it is called in a list. */
  title: string;
  /** What is the matter and what may help, in words. */
  message: string;
  /** The trajectories it is about. */
  where: FindingPlace[];
}

/** What findings are looked for in. */
export interface FindingInput {
  /** Scored trajectories; empty where nothing is scored. */
  scored: readonly ScoredTrajectory[];
  trees: readonly RolloutTree[];
  /** Trajectories whose tokens are checked. */
  rows: readonly TokenRow[];
}

/** One thing to look for. */
export interface FindingDefinition {
  name: string;
  title: string;
  /** It also says something where nothing is trained: `evaluate` prints it. */
  ofAnswers?: true;
  /** Undefined where there is nothing to say. */
  find(input: FindingInput): Omit<Finding, "kind" | "title"> | undefined;
}

import type { ExpansionRule } from "../../rollout/rules/registry.js";
import type { RolloutRule } from "../../rollout/options.js";
import type { ExpansionPlan } from "../../rollout/replay/plan-expansion.js";
import type { ReplayPlan } from "../../rollout/replay/plan.js";
import type {
  BranchAttempt,
  NodeTool,
  TrajectoryEnd,
  TrajectoryKind,
} from "../../rollout/tree/tree-values.js";
import type { PackedNumbers } from "../page/pack.js";

export interface PageNode {
  parent: number;
  kind: "model" | "tool" | "end";
  trajectory: number;
  round: number;
  /** Its tokens in the tree's list of tokens, and their distance from the prompt. */
  start: number;
  length: number;
  depth: number;
  entropy?: number;
  /** Mean score of the trajectories through it. */
  reward?: number;
  finish?: string;
  stop?: string;
  tool?: Omit<NodeTool, "text"> & { text?: undefined };
  branch?: BranchAttempt[];
  /** Its text, where the tokens cannot tell it. */
  text?: string;
  /** Milliseconds since the rollout began, and what the tool took. */
  began?: number;
  ended?: number;
  toolMs?: number;
}

export interface PageTrajectory {
  kind: TrajectoryKind;
  parent: number;
  from: number;
  leaf: number;
  end: TrajectoryEnd;
  calls: number;
  score?: number;
  reason?: string;
  /** Whether it is right, where its score does not say so. */
  verdict?: Verdict;
}

/** Right, wrong, a score below 0 (an answer in an invalid format), or no answer at all: it was cut off or failed. */
export type Verdict = "right" | "wrong" | "invalid" | "unfinished";

/** What a rule that looks at what was written may choose in a tree, in few numbers. */
export interface PackedPlan extends Omit<ExpansionPlan, "chains"> {
  /** Of each trajectory the places it may be left at, five numbers each, and how many there are. */
  places: number[][];
  counts: number[];
  /** Of each trajectory the turns, three numbers each. */
  turns: number[][];
}

export interface PackedExpansions {
  /** Trajectories that the rules see: number, parent, tree, start, split, length, and 1 for a first one. */
  trajectories: number[][];
  /** Places carried of each trajectory, where a rule has so many. */
  most: number;
  plans: Partial<Record<ExpansionRule, PackedPlan>>;
}

/** What policies say of a tree's tokens, one after another. */
export interface PackedScores {
  /** -ln p and entropy of every token that the model wrote, under each. */
  surprises: PackedNumbers;
  entropies: PackedNumbers;
  /** The same of every word on the cards of `wordCards`, in their order: -ln p. */
  words: PackedNumbers;
}

/** A tree under the checkpoints of a run. */
export interface PackedPolicies extends PackedScores {
  /** The step of each; -1 is the policy that the tree was sampled under. The first is what others are compared with. */
  steps: number[];
  /** Of each what the rollout's planned steps are decided by, entropy and baseline of one after the other; none where no draw decides. */
  decided: number[][];
  /** What was left out, in words. */
  note?: string;
}

/** What the explorer's page is given: a tree in few bytes. */
export interface ExplorerPayload {
  title: string;
  /** How it is known which trajectories are right, where no score of 0 to 1 says so. */
  rightBy?: string;
  prompt: string;
  /** The right answer, where the task has one in a few words. */
  truth?: string;
  plan: ReplayPlan;
  /** The rule that the tree grew by, and what those that look at what was written may choose here. */
  rule: RolloutRule;
  expansions: PackedExpansions;
  /** What each rule is called. */
  titles: Readonly<Record<string, string>>;
  /** The text of every token that occurs; empty without a tokenizer. */
  vocabulary: string[];
  /** Places in the vocabulary (ids where it is empty), 32 bits each if there are many. */
  tokens: string;
  wide: boolean;
  entropies: PackedNumbers;
  /** -ln p */
  surprises: PackedNumbers;
  advantages?: PackedNumbers;
  /** ln p under a teacher less that under the policy. */
  gaps?: PackedNumbers;
  /** The most likely alternatives: `width` places in the vocabulary per token, and their -ln p. */
  top?: { width: number; ids: string; surprises: PackedNumbers };
  nodes: PageNode[];
  trajectories: PageTrajectory[];
  /** Tokens that a finding is about: a node, its first token and the one after the last. */
  marks?: readonly (readonly [node: number, from: number, to: number])[];
  policies?: PackedPolicies;
}

/** How the page reaches a tree in a running kernel. */
export interface LiveTree {
  key: string;
  target: string;
}

/** What the page asks for: a new tree that continues from a node. */
export interface TreeRequest {
  tree: string;
  node: number;
  /** Keep only so many tokens of the node. */
  at?: number;
  /** The tool's answer from here on. */
  result?: string;
  /** How many trajectories. */
  trajectories?: number;
  /** With another seed. */
  resample?: boolean;
}

/** What the kernel answers. */
export type TreeReply =
  { error: string } | { name: string; tree: ExplorerPayload; live?: LiveTree; error?: undefined };

/** What a rule is called; a page is told what each of them is. */
export const ruleName = (titles: ExplorerPayload["titles"], rule: string): string =>
  titles[rule] ?? rule;

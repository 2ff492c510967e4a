import type { FinishReason } from "../../policy/policy.js";
import type { Support } from "../../policy/token-sets.js";
import type { ToolFailure } from "../../tools/tool-set.js";
import type { BranchVerdict } from "../branch/branch-rule.js";
import type { DynamicBudget } from "../branch/dynamic-budget.js";

/** How a trajectory began. */
export type TrajectoryKind = "initial" | "branch" | "refill";

/**
 * Why a trajectory ended: an end token, or nothing more was written (`answer`); a call without content; one call too many; the
 * response length; the policy's context was full; its environment ended it (`done`).
 */
export type TrajectoryEnd = "answer" | "bad-call" | "call-limit" | "length" | "context" | "done";

/** One attempt at a branch, refused or not, with everything that decided it. */
export interface BranchAttempt extends BranchVerdict {
  /** The trajectory that might have branched. */
  trajectory: number;
  round: number;
  /** 0 for the trajectory's first attempt in the round. */
  attempt: number;
  u: number;
  entropy: number;
  baseline: number;
  consecutive: number;
  /** Trajectories the prompt could still start before this attempt. */
  remaining: number;
  /** The trajectory it started. */
  child?: number;
}

/** A tool call and its answer. */
export interface NodeTool {
  tag: string;
  input: string;
  /** The tool's answer, without the result block around it. */
  text: string;
  ok: boolean;
  failure?: ToolFailure;
  retries: number;
  /** What the call itself earned. */
  reward?: number;
  /** The answer was written by hand, in a fork. */
  edited?: boolean;
}

/** What differs between two runs of the same seed: times, and what tools tell people. */
interface NodeRun {
  /** Milliseconds since the rollout began. */
  start: number;
  end: number;
  /** Milliseconds the tool worked, without the wait for a free worker. */
  toolMs?: number;
  details?: Record<string, unknown>;
}

/** The most likely alternatives of each position, `width` per token, in falling order. */
interface TopTokens {
  width: number;
  ids: Int32Array;
  logprobs: Float32Array;
}

/** A segment of a tree: what the model wrote, a tool's result, or an end token put by the rules. */
export interface TreeNode {
  id: number;
  /** The node it continues; -1 is the prompt. */
  parent: number;
  kind: "model" | "tool" | "end";
  /** The trajectory that wrote it; its branches share it. */
  trajectory: number;
  round: number;
  tokens: Int32Array;
  /** Its tokens without special ones. */
  text: string;
  /** ln p of each token when it was sampled. Empty unless `kind` is `model`. */
  logprobs: Float32Array;
  /** Entropy of the full distribution at each token, in nats. Empty unless `kind` is `model`. */
  entropies: Float32Array;
  top?: TopTokens;
  /** What each token was sampled from, where top-k, top-p, min-p or a constraint cut the vocabulary. */
  support?: Support;
  /** Of each token how many updates its policy had been through, where that is not the tree's; -1: unknown. */
  versions?: Int32Array;
  /** The segment's entropy as the branching rule sees it. */
  entropy?: number;
  finish?: FinishReason;
  /** The stop string it ended with. */
  stop?: string;
  tool?: NodeTool;
  /** The attempts at a branch after this node. */
  branch?: BranchAttempt[];
  run?: NodeRun;
}

/** How an environment scores a trajectory that has ended. */
export interface TrajectoryOutcome {
  /** Undefined where the environment gives no reward at the end, or failed. */
  score?: number;
  reason: string;
  parts?: Record<string, number>;
  /** Why the environment could not go on. */
  failure?: string;
}

/** Why a rule that looks at finished text started a trajectory. */
export interface TrajectoryChoice {
  /** The rule's round, from 1. */
  round: number;
  /** The choice's place among those of its round. */
  order: number;
  /** Tokens of the response that it shares with its parent. */
  at: number;
  /** What the rule ranked by; 0 where it drew at random or only counts. */
  score: number;
  /** The place in the response of the token that was ranked. */
  token?: number;
}

/** A trajectory in a tree's plain data: a path from the prompt to a leaf. */
export interface TreeTrajectory {
  /** Its place in the order of creation. */
  id: number;
  kind: TrajectoryKind;
  /** The round it first generates in. */
  round: number;
  /** The trajectory it branched from; -1 for none. */
  parent: number;
  /** The node it starts after; -1 is the prompt. */
  from: number;
  /** Its last node; `from` if it wrote none. */
  leaf: number;
  end: TrajectoryEnd;
  /** Tool calls spent, those it inherited included. */
  calls: number;
  /** How its environment scored it. */
  outcome?: TrajectoryOutcome;
  chosen?: TrajectoryChoice;
}

/** What AEPO's pre-monitoring saw and what it decided. */
export interface EntropyMonitor extends DynamicBudget {
  rootEntropy: number;
  stepEntropies: number[];
  /** What its probes drew and called; trees of earlier versions do not say. */
  spent?: { tokens: number; calls: number };
}

import type { FinishReason } from "../../policy/policy.js";
import type { ToolFailure } from "../../tools/tool-set.js";
import type { BranchVerdict } from "../branch/branch-rule.js";
import type { DynamicBudget } from "../branch/dynamic-budget.js";

/** How a row came to be. */
export type RowKind = "initial" | "branch" | "refill";

/**
 * Why a row ended: it wrote an end token; it made a call without content; it asked for one call too
 * many; its response reached the limit; the policy's context was full; its environment said that it
 * was over.
 */
export type RowEnd = "answer" | "bad-call" | "call-limit" | "length" | "context" | "done";

/** One attempt at a branch, refused or not, with everything that decided it. */
export interface BranchAttempt extends BranchVerdict {
  /** The row that might have branched. */
  row: number;
  round: number;
  /** 0 for the row's first attempt in the round. */
  attempt: number;
  u: number;
  entropy: number;
  baseline: number;
  consecutive: number;
  /** Rows the prompt could still make before this attempt. */
  remaining: number;
  /** The row it made. */
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
export interface NodeRun {
  /** Milliseconds since the rollout began. */
  start: number;
  end: number;
  /** Milliseconds the tool worked, without the wait for a free worker. */
  toolMs?: number;
  details?: Record<string, unknown>;
}

/** The most likely alternatives of each position, `width` per token, in falling order. */
export interface TopTokens {
  width: number;
  ids: Int32Array;
  logprobs: Float32Array;
}

/** A stretch of a tree: a segment the model wrote, a tool's result, or an end token put by the rules. */
export interface TreeNode {
  id: number;
  /** The node it continues; -1 is the prompt. */
  parent: number;
  kind: "model" | "tool" | "end";
  /** The row that made it; its branches share it. */
  row: number;
  round: number;
  tokens: Int32Array;
  /** Its tokens without special ones. */
  text: string;
  /** ln p of each token when it was sampled. Empty unless `kind` is `model`. */
  logprobs: Float32Array;
  /** Entropy of the full distribution at each token, in nats. Empty unless `kind` is `model`. */
  entropies: Float32Array;
  top?: TopTokens;
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

/** What an environment says of a row that has ended. */
export interface RowOutcome {
  /** Undefined where the environment gives no reward at the end, or failed. */
  score?: number;
  reason: string;
  parts?: Record<string, number>;
  /** Why the environment could not go on. */
  failure?: string;
}

/** Why a rule that looks at what has been written made a row. */
export interface RowChoice {
  /** The rule's round, from 1. */
  round: number;
  /** The choice's place among those of its round. */
  order: number;
  /** Tokens of the response that the row shares with the one it left. */
  at: number;
  /** What the rule ranked by; 0 where it drew lots or counts alone. */
  score: number;
  /** The place in the response of the token that was ranked. */
  token?: number;
}

/** One row: a path from the prompt to a leaf. */
export interface TreeRow {
  row: number;
  kind: RowKind;
  /** The round it first generates in. */
  round: number;
  /** The row it was copied from; -1 for none. */
  parent: number;
  /** The node it starts after; -1 is the prompt. */
  from: number;
  /** Its last node; `from` if it has none. */
  leaf: number;
  end: RowEnd;
  /** Tool calls spent, those it inherited included. */
  calls: number;
  /** What its environment says it was worth. */
  outcome?: RowOutcome;
  chosen?: RowChoice;
}

/** What AEPO's pre-monitoring saw and what it decided. */
export interface EntropyMonitor extends DynamicBudget {
  rootEntropy: number;
  stepEntropies: number[];
}

import type { Sampling } from "../policy/policy.js";
import type { BranchSettings } from "./branch/branch-rule.js";
import type { EntropyOptions } from "./branch/segment-entropy.js";
import type { PromptLimit } from "./task.js";

/** AEPO's entropy pre-monitoring (`enable_dynamic_rollouts`). */
export interface DynamicRollouts {
  /** `initial_entropy_tokens`: the root generation's length. Default 50. */
  tokens?: number;
  /** Default 0.5, as the code; the paper does not state its value. */
  beta?: number;
  /** `code` truncates and adds one; `paper` rounds n times the sigmoid. */
  formula?: "code" | "paper";
  /** Leave the probe's first segment, written before any tool call, out of the mean (the paper). */
  excludeFirst?: boolean;
}

/**
 * A rule that looks at what was written, with its settings, complete: plain data, that its definition reads.
 * Trees are below the rules that grow them and do not know which there are.
 */
export interface Expansion {
  rule: string;
  readonly [setting: string]: unknown;
}

/** The settings of a rollout, complete: what a tree carries to be made again. */
export interface RolloutConfig {
  n: number;
  initialRollouts: number;
  beamSize: number;
  attemptsPerTrajectory: number;
  branch: BranchSettings;
  penalty: "prompt" | "path";
  entropy: Required<EntropyOptions>;
  entropyTiming: "before-result" | "after-result";
  baseline: "own" | "ancestor";
  dynamicRollouts: Required<DynamicRollouts> | false;
  /** Set where the rule is one that looks at what has been written; `branch` then says nothing. */
  expansion?: Expansion;
  promptLimit?: PromptLimit;
  responseLength: number;
  callLimit: number;
  mode: "train" | "validate";
  sampling: Sampling;
  validation: Sampling;
  scheduling: "prompt" | "lockstep";
  compat: {
    searchPrompt: boolean;
    attendPadding: boolean;
    resultBegin: number | null;
    appoAlignment?: boolean;
    appoMismatch?: boolean;
    treepoFirstStep?: boolean;
  };
  keepTop: boolean;
  tools: string[];
  /** How calls are written, where that is not by tags. */
  calls?: string;
  seed: number;
}

/** The name of the rule that a tree grows by. */
export const ruleOf = ({
  branch,
  expansion,
}: Pick<RolloutConfig, "branch" | "expansion">): string => expansion?.rule ?? branch.rule;

export {
  branchRules,
  decideBranch,
  type BranchRule,
  type BranchSettings,
  type BranchSituation,
  type BranchVerdict,
} from "./branch-rule.js";
export { ConsecutivePenalty } from "./consecutive-penalty.js";
export { dynamicBudget, type DynamicBudget } from "./dynamic-budget.js";
export { EntropyBaselines } from "./entropy-baselines.js";
export { lossMask, responseAttention } from "./response-mask.js";
export { segmentEntropy, type EntropyOptions } from "./segment-entropy.js";
export { toolContent } from "./tool-content.js";
export type { RolloutConfig } from "./config.js";
export type { ForkChanges } from "./fork.js";
export type {
  DrawSource,
  DynamicRollouts,
  RolloutCompat,
  RolloutEvent,
  RolloutOptions,
  SamplingOptions,
} from "./options.js";
export { rolloutPresets } from "./presets.js";
export type { Replay, ReplayAttempt, ReplayChanges } from "./replay.js";
export { rollout } from "./rollout.js";
export { toolMetrics } from "./rollout-metrics.js";
export { RolloutTree, type RolloutTreeData, type TreeOrigin } from "./rollout-tree.js";
export type { PromptLimit, PromptText, RolloutTask } from "./task.js";
export type { Trajectory } from "./trajectory.js";
export type {
  BranchAttempt,
  EntropyMonitor,
  NodeRun,
  NodeTool,
  RowEnd,
  RowKind,
  TopTokens,
  TreeNode,
  TreeRow,
} from "./tree-values.js";
export { padTrajectories, type PaddedBatch } from "./pad-trajectories.js";
export { loadTrees, saveTrees } from "./tree-files.js";
export { treesFromJsonl, treesToJsonl } from "./tree-jsonl.js";
export { treesFromParquet, treesToParquet } from "./tree-parquet.js";

export {
  branchRules,
  decideBranch,
  type BranchRule,
  type BranchSettings,
  type BranchSituation,
  type BranchVerdict,
} from "./branch/branch-rule.js";
export {
  appoBranchPoints,
  appoFutureValues,
  appoRewardScale,
  appoRolloutPoints,
  type AppoPoint,
  type AppoTrajectory,
} from "./branch/family/appo.js";
export {
  at2poCandidates,
  at2poExpand,
  at2poLeaves,
  type RankedTurn,
  type TurnOutline,
} from "./branch/family/at2po.js";
export {
  branchSignals,
  expansionRules,
  type BranchSignal,
  type ExpandOptions,
  type ExpansionRule,
  type ExpansionSettings,
} from "./branch/family/settings.js";
export { fr3eAnchors } from "./branch/family/fr3e.js";
export type { Outline } from "./branch/family/outline.js";
export { treeGrpoExpand } from "./branch/family/tree-grpo.js";
export {
  treepoAllocations,
  treepoDivergence,
  type TreepoAllocation,
  type TreepoStep,
} from "./branch/family/treepo.js";
export {
  treerlMask,
  treerlSelect,
  type ChosenToken,
  type SignalChain,
  type TreerlOptions,
} from "./branch/family/treerl.js";
export { ConsecutivePenalty } from "./branch/consecutive-penalty.js";
export { dynamicBudget, type DynamicBudget } from "./branch/dynamic-budget.js";
export { EntropyBaselines } from "./branch/entropy-baselines.js";
export { lossMask, responseAttention } from "./tree/response-mask.js";
export { turnsOf, type Turn } from "./tree/turns.js";
export { segmentEntropy, type EntropyOptions } from "./branch/segment-entropy.js";
export type { BootstrapOptions, BootstrapEstimate } from "./entropy/bootstrap.js";
export { callConcentration, type CallConcentration } from "./entropy/call-concentration.js";
export {
  entropyByDistance,
  type DistanceProfile,
  type ProfilePoint,
} from "./entropy/entropy-by-distance.js";
export { entropyContent, type EntropyContent } from "./entropy/entropy-content.js";
export {
  entropyOutcome,
  type ForkOutcome,
  type TrajectoryScores,
} from "./entropy/entropy-outcome.js";
export { entropyRise, type EntropyRise } from "./entropy/entropy-rise.js";
export { entropyStatistics, type EntropyStatistics } from "./entropy/entropy-statistics.js";
export type { ModelTokenOptions, ProfiledTree } from "./entropy/model-tokens.js";
export type { EntropyStatisticOptions } from "./entropy/options.js";
export { recordedRise, type RecordedRound } from "./entropy/recorded-rise.js";
export type { EntropySignal } from "./entropy/signal.js";
export type { TokenKind } from "./entropy/token-kind.js";
export { toolContent } from "../text/call-input.js";
export type { DynamicRollouts, RolloutConfig } from "./settings.js";
export type { ForkChanges } from "./grow/fork.js";
export type {
  DrawSource,
  RolloutCompat,
  RolloutEvent,
  RolloutOptions,
  RolloutRule,
  TrajectoryJudge,
} from "./options.js";
export { rolloutPresets } from "./presets.js";
export type { ReplayChanges } from "./replay/follow-plan.js";
export type { Replay, ReplayAttempt, ReplayPoint } from "./replay/replay-result.js";
export type { TreeReplayChanges } from "./replay/replay.js";
export { rollout } from "./rollout.js";
export { toolMetrics } from "./tree/metrics.js";
export { RolloutTree } from "./rollout-tree.js";
export { UnfinishedRollout } from "./unfinished-rollout.js";
export type { RolloutTreeData, TreeEnvironment, TreeOrigin } from "./tree/tree-data.js";
export type { PromptLimit, PromptText, RolloutTask } from "./task.js";
export type { Trajectory } from "./tree/trajectory.js";
export type {
  BranchAttempt,
  EntropyMonitor,
  NodeRun,
  NodeTool,
  TrajectoryChoice,
  TrajectoryEnd,
  TrajectoryKind,
  TrajectoryOutcome,
  TopTokens,
  TreeNode,
  TreeTrajectory,
} from "./tree/tree-values.js";
export { padTrajectories, type PaddedTrajectories } from "./tree/pad-trajectories.js";
export { loadTrees, saveTrees } from "./files/tree-files.js";
export { treesFromJsonl, treesToJsonl } from "./files/tree-jsonl.js";
export { treesFromParquet, treesToParquet } from "./files/tree-parquet.js";

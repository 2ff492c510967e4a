/** Rollouts: trees of trajectories, and the rule that branches them. */

// Rolling out
export { rollout } from "../rollout/rollout.js";
export type { RolloutTask } from "../rollout/task.js";
export type {
  RolloutOptions,
  RolloutEvent,
  RolloutRule,
  TrajectoryJudge,
} from "../rollout/options.js";
export type { DynamicRollouts } from "../rollout/settings.js";
export { UnfinishedRollout } from "../rollout/unfinished-rollout.js";
export { presets, type CellPreset } from "../run/presets.js";
export type { PresetName } from "../rollout/presets.js";

// Trees
export { RolloutTree } from "../rollout/rollout-tree.js";
export type { RolloutTreeData } from "../rollout/tree/tree-data.js";
export type { Trajectory } from "../rollout/tree/trajectory.js";
export type { TreeNode, TreeTrajectory, BranchAttempt } from "../rollout/tree/tree-values.js";
export { loadTrees, saveTrees } from "../rollout/files/tree-files.js";

// Replays and forks
export type { Replay } from "../rollout/replay/replay-result.js";
export type { TreeReplayChanges } from "../rollout/replay/replay.js";
export type { ForkChanges } from "../rollout/grow/fork.js";

// What a branch is worth
export { branchValues, type BranchValueOptions } from "../measure/branch-values/measure.js";
export { BranchValues } from "../measure/branch-values/branch-values.js";
export type { PlaceRule } from "../measure/branch-values/place-rules.js";

// What answers rest on
export { evidence, type EvidenceOptions } from "../measure/evidence/find-evidence.js";

// The branching rule
export { decideBranch, type BranchSettings } from "../rollout/rules/decide-branch.js";
export type { BranchRule } from "../rollout/rules/registry.js";
export type { BranchSituation } from "../rollout/branch/branch-rule.js";
export { segmentEntropy, type EntropyOptions } from "../rollout/branch/segment-entropy.js";
export { dynamicBudget } from "../rollout/branch/dynamic-budget.js";

// Texts and masks
export { toolContent } from "../base/text/call-input.js";
export { lossMask } from "../rollout/tree/trajectory.js";

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

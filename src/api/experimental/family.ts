/** The tree methods around ARPO: how they credit tokens and how they expand trees. Experimental: may change in any release. */

// Credit
export { creditOf, creditEstimators } from "../../learn/advantages.js";
export type {
  Credit,
  CreditSpan,
  CreditSum,
  CreditTerm,
  CreditTree,
  CreditNode,
  TreeInput,
} from "../../learn/estimators/credit.js";
export { type CreditOptions, estimatorsByName } from "../../learn/estimators/registry.js";
export {
  type CreditBranch,
  appo,
  type AppoInput,
  type AppoOptions,
  appoRewardScale,
} from "../../learn/estimators/appo.js";
export { creditFigures, type CreditFigures } from "../../learn/measures/tree-metrics.js";
export { at2po, type At2poOptions } from "../../learn/estimators/at2po.js";
export { fr3e, type Fr3eInput, type Fr3eOptions } from "../../learn/estimators/fr3e.js";
export {
  giGpo,
  type GiGpoInput,
  type GiGpoOptions,
  type GiGpoSteps,
} from "../../learn/estimators/gigpo.js";
export { mtGrpo, type MtGrpoInput, type MtGrpoOptions } from "../../learn/estimators/mt-grpo.js";
export {
  spoChain,
  type SpoChainInput,
  spoCutPoints,
  type CutPoint,
  spoTree,
  type SpoTreeOptions,
} from "../../learn/estimators/spo.js";
export {
  treeDiff,
  treeGrpo,
  type TreeGrpoOptions,
  type TreeTrajectories as TreeRows,
} from "../../learn/estimators/tree-grpo.js";
export { treePo, type TreePoInput, type TreePoOptions } from "../../learn/estimators/treepo.js";
export { turnBaseline, type TurnBaselineOptions } from "../../learn/estimators/turn-baseline.js";

// Expansion
export {
  type BranchPoint as AppoPoint,
  type RatedTrajectory as AppoTrajectory,
} from "../../rollout/branch/family/future-value.js";
export { appoBranchPoints, appoFutureValues } from "../../rollout/rules/appo.js";
export { appoRolloutPoints } from "../../rollout/rules/appo-rollout.js";
export {
  at2poCandidates,
  at2poExpand,
  at2poLeaves,
  type RankedTurn,
  type TurnOutline,
} from "../../rollout/rules/at2po.js";
export {
  branchSignals,
  type BranchSignal,
  type RankedToken,
  type TokenRanking,
} from "../../rollout/branch/family/signals.js";
export {
  expansionRules,
  rules,
  type ExpansionRule,
  type ExpansionSettings,
  type ExpandOptions,
} from "../../rollout/rules/registry.js";
export { fr3eAnchors } from "../../rollout/rules/fr3e.js";
export type { Outline } from "../../rollout/branch/family/outline.js";
export { treeGrpoExpand } from "../../rollout/rules/tree-grpo.js";
export {
  treepoAllocations,
  type TreepoAllocation,
  treepoDivergence,
  type TreepoStep,
} from "../../rollout/rules/treepo.js";
export {
  treerlMask,
  treerlSelect,
  type ChosenToken,
  type SignalChain,
  type TreerlOptions,
} from "../../rollout/rules/treerl.js";

// Methods of one's own
export { defineRule, type RuleDefinition } from "../../rollout/rules/definition.js";
export { defineAttemptRule } from "../../rollout/rules/attempt.js";
export { signal } from "../../rollout/rules/settings.js";
export {
  defineEstimator,
  definePlainEstimator,
  type EstimatorDefinition,
} from "../../learn/estimators/definition.js";
export { wholeTrajectory } from "../../learn/estimators/credit.js";
export { setting } from "../../../common/options/setting.js";

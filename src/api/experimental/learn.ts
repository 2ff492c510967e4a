/** What an update is made of, piece by piece. Experimental: may change in any release. */

// What a configuration puts together for a trainer
export { assemble } from "../../run/trainer/assemble.js";

// Losses and corrections
export { logProbEntropy } from "../../tensor/log-prob.js";
export {
  actorLoss,
  type ActorLoss,
  type ActorLossInput,
  valueLoss,
} from "../../learn/losses/losses.js";
export { defineLoss, type LossDefinition } from "../../learn/losses/base/definition.js";
export { lossRegistry } from "../../learn/losses/registry.js";
export type { ActorLossOptions } from "../../learn/losses/loss-rules.js";
export { aggregateLoss, type AggregateOptions } from "../../learn/losses/base/aggregate.js";
export { klPenalty, klInReward, controlKl, type KlControl } from "../../learn/losses/base/kl.js";
export type { KlKind } from "../../learn/losses/base/options.js";
export { entropyAwareAdvantage } from "../../learn/losses/base/tensor-ops.js";
export {
  correctionWeights,
  type WeightLevel,
  type WeightOptions,
} from "../../learn/correction/weights.js";
export { type LogRatios, mismatchMetrics } from "../../learn/correction/figures.js";
export {
  rejectionMask,
  rejectionTests,
  type RejectionTest,
  type RejectionOptions,
} from "../../learn/correction/rejection.js";

// What the options of a loss of one's own are stated with
export { key, option, unset } from "../../../common/options/option-table.js";
export { finite, notNegative, positive, share } from "../../../common/options/check-options.js";

// Distillation
export {
  rightSibling,
  type RightSiblingOptions,
  type SiblingOptions,
  siblingFigures,
  siblingPrompts,
  type SiblingRow,
} from "../../learn/distillation/siblings.js";
export type { PrivilegedTeacher, Teacher } from "../../learn/distillation/teacher.js";

// Figures
export { treeMetrics, type TreeMetricOptions } from "../../learn/measures/tree-metrics.js";
export { mixedOutcomes, type MixedOutcomes } from "../../learn/measures/mixed-outcomes.js";
export { turnsOf, type Turn } from "../../rollout/tree/turns.js";

// Fine-tuning
export { SftTrainer, type SftStep } from "../../learn/sft/train.js";
export { readConversation } from "../../learn/sft/conversation.js";
export {
  encodeConversation,
  type EncodeOptions,
  type Example,
  ignored,
} from "../../learn/sft/encode.js";

// Demonstrations over many invented worlds, as the tiny model learned from
export {
  worldDemonstrations,
  type WorldDemonstrations,
} from "../../run/tiny/world-demonstrations.js";
export { hierarchicalGrpo, roleBaseline } from "../../learn/estimators/agents.js";

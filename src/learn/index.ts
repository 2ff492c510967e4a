export { estimators } from "./estimators.js";
export type { Advantages, Outcome } from "./advantage/estimator.js";
export { gae } from "./advantage/gae.js";
export { appo, type AppoInput, type AppoOptions, type CreditBranch } from "./credit/appo.js";
export { at2po, type At2poOptions } from "./credit/at2po.js";
export { type Credit, type CreditSpan, type CreditSum, type CreditTerm } from "./credit/credit.js";
export { type CreditNode, type CreditTree, type TreeInput } from "./credit/credit-tree.js";
export { creditEstimators, creditOf } from "./credit-of.js";
export type { CreditOptions } from "./credit/options.js";
export { fr3e, type Fr3eInput, type Fr3eOptions } from "./credit/fr3e.js";
export { giGpo, type GiGpoInput, type GiGpoOptions, type GiGpoSteps } from "./credit/gigpo.js";
export { mtGrpo, type MtGrpoInput, type MtGrpoOptions } from "./credit/mt-grpo.js";
export { spoChain, spoCutPoints, type CutPoint, type SpoChainInput } from "./credit/spo-chain.js";
export { spoTree, type SpoTreeOptions } from "./credit/spo-tree.js";
export { treeDiff } from "./credit/tree-diff.js";
export { treeGrpo, type TreeGrpoOptions, type TreeRows } from "./credit/tree-grpo.js";
export { treePo, type TreePoInput, type TreePoOptions } from "./credit/treepo.js";
export { turnBaseline, type TurnBaselineOptions } from "./credit/turn-baseline.js";
export { gpg } from "./advantage/gpg.js";
export { grpo } from "./advantage/grpo.js";
export { grpoPassAtK } from "./advantage/grpo-pass-at-k.js";
export { maskedMean, maskedVariance, whiten, type Rows } from "./advantage/masked.js";
export { opo } from "./advantage/opo.js";
export {
  reinforcePlusPlus,
  reinforcePlusPlusBaseline,
  reinforcePlusPlusOlder,
} from "./advantage/reinforce-plus-plus.js";
export { remax } from "./advantage/remax.js";
export { rloo } from "./advantage/rloo.js";
export {
  correctionWeights,
  type LogRatios,
  type WeightLevel,
  type WeightOptions,
} from "./correction/correction-weights.js";
export { mismatchMetrics } from "./correction/mismatch-metrics.js";
export { rejectionMask } from "./correction/rejection-mask.js";
export {
  rejectionTests,
  type RejectionOptions,
  type RejectionTest,
} from "./correction/rejection-tests.js";
export type { RolloutCorrection } from "./correction/rollout-correction.js";
export { type Threshold } from "./correction/thresholds.js";
export { creditFigures, type CreditFigures } from "./measures/credit-figures.js";
export {
  mixedOutcomes,
  type ComparisonSet,
  type MixedOutcomeOptions,
  type MixedOutcomes,
} from "./measures/mixed-outcomes.js";
export { generatedTokens, treeMetrics, type TreeMetricOptions } from "./measures/tree-metrics.js";
export { filterGroups, type FilteredGroups, type FilterOptions } from "./filter-groups.js";
export {
  actorLoss,
  type ActorLoss,
  type ActorLossInput,
  type ActorLossOptions,
} from "./loss/actor-loss.js";
export { aggregateLoss, maskedTensorMean, type AggregateOptions } from "./loss/aggregate.js";
export {
  aggregationRules,
  lossAggregations,
  type AggregationRule,
  type LossAggregation,
} from "./loss/aggregation-modes.js";
export {
  lossFacts,
  lossNameOf,
  lossNames,
  type LossFacts,
  type LossName,
} from "./loss/loss-names.js";
export { lossDefaults, type LossParameters } from "./loss/loss-parameters.js";
export { lossPresets } from "./loss/loss-presets.js";
export { losses } from "./loss/losses.js";
export { entropyAwareAdvantage } from "./loss/entropy-advantage.js";
export { gspoLoss, type GspoOptions } from "./loss/gspo.js";
export { clipBounds, type ClipBounds, type ClipOptions } from "./loss/clip-bounds.js";
export { controlKl, type KlControl } from "./loss/kl-controller.js";
export { klInReward } from "./loss/kl-in-reward.js";
export { klKinds, klPenalty, type KlKind } from "./loss/kl.js";
export { policyLoss } from "./loss/policy-loss.js";
export type {
  NamedLoss,
  PolicyLoss,
  PolicyLossInput,
  PolicyLossOptions,
} from "./loss/policy-loss-types.js";
export { rowLogRatio, tokenRatio, type RatioInput, type RatioKind } from "./loss/token-ratio.js";
export { valueLoss } from "./loss/value-loss.js";
export { learningRateFactor, type Schedule } from "./schedule.js";
export {
  openAiTags,
  readConversation,
  type Conversation,
  type ConversationTags,
} from "./sft/conversation.js";
export { loadDataset, type ConversationSet } from "./sft/dataset-info.js";
export { encodeConversation, ignored, type EncodeOptions, type Example } from "./sft/encode.js";
export { crossEntropy } from "./sft/cross-entropy.js";
export { exampleOf } from "./sft/demonstration-example.js";
export { pack } from "./sft/pack.js";
export { SftTrainer, type SftOptions, type SftState, type SftStep } from "./sft/train.js";
export {
  advantages,
  estimatorNames,
  placeReward,
  type AdvantageOptions,
  type Estimator,
} from "./advantages.js";
export {
  isPrepared,
  isTrained,
  rowsOf,
  trainedMask,
  TrainingBatch,
  type BatchRow,
  type PreparedRow,
  type ScoredRow,
  type TrainedRow,
} from "./batch.js";
export { Learner } from "./learner.js";
export type { PassLoss, StepSettings } from "./model-optimizer.js";
export type { Reference } from "./reference-policy.js";
export type { PassLogProbs, PassRow } from "./token-passes.js";
export { keptPerLayer } from "./tokens-at-once.js";
export type { Trainable } from "./trainee-of.js";
export type { RowMeasures, StepReport, StepWork, Trainee } from "./trainee.js";
export type { UpdateOptions } from "./update-options.js";
export { tokenUpdate, type ClipRegion, type TokenUpdate } from "./loss/token-update.js";
export { UpdateReport } from "./update-report.js";
export { update } from "./update.js";
export { Critic, type CriticOptions } from "./critic.js";
export { fineTune, type FineTuning } from "./sft/fine-tune.js";

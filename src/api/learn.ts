/** From trajectories to new weights: rewards, advantages, losses, updates, fine-tuning. */

// Scoring
export { score, type ScoreOptions } from "../reward/score-trees.js";
export { Scored, type ScoredTrajectory } from "../reward/scored.js";
export type { Score, Judged } from "../reward/score.js";
export { diagnose } from "../reward/findings/diagnose.js";

// Rewards
export {
  type Reward,
  type RewardFunction,
  type RewardContext,
  type GroupReward,
  groupReward,
  reference,
} from "../reward/reward-function.js";
export {
  type JudgedTrajectory,
  type JudgedCall,
  judgedTrajectory,
} from "../reward/judged-trajectory.js";
export { judgeReward, type JudgeRewardOptions } from "../reward/judge-reward.js";
export { rubric, type RubricPart } from "../reward/judge-reward.js";
export { byDataSource } from "../reward/by-data-source.js";
export { environmentReward } from "../reward/rewards/environment.js";
export { loadReward } from "../reward/load-reward.js";
export { deepResearch } from "../reward/rewards/deep-research.js";
export { exactMatch } from "../reward/rewards/exact-match.js";
export { substringMatch } from "../reward/rewards/substring-match.js";
export { math } from "../reward/rewards/math.js";
export { gsm8k } from "../reward/rewards/gsm8k.js";

// What rewards are made of
export { extractAnswer } from "../reward/answers/extract-answer.js";
export { checkFormat } from "../reward/rewards/deep-research.js";
export { normalizeAnswer, tokenF1 } from "../reward/answers/qa-em.js";
export { mathEquivalent } from "../reward/answers/math-equivalence.js";
export { numericEquivalent } from "../reward/answers/numeric-equivalence.js";

// Advantages
export {
  advantages,
  type AdvantageOptions,
  type Estimator,
  estimators,
} from "../learn/advantages.js";
export type { Rows } from "../learn/masked.js";
export { TrainingBatch } from "../learn/batch.js";
export { filterGroups, type FilterOptions } from "../learn/filter-groups.js";

// Losses
export { losses, type NamedLoss } from "../learn/losses/losses.js";
export type { PolicyLoss, PolicyLossInput } from "../learn/losses/base/tensor-ops.js";
export type { PolicyLossOptions, LossName } from "../learn/losses/registry.js";
export type { LossAggregation } from "../learn/losses/base/options.js";
export { tokenUpdate, type TokenUpdate } from "../learn/losses/token-update.js";

// Updates
export { update, Learner } from "../learn/update/learner.js";
export type { UpdateOptions } from "../learn/update/update-settings.js";
export { UpdateReport } from "../learn/update/update-report.js";
export { Critic } from "../learn/update/critic.js";
export type { CriticOptions } from "../learn/update/critic-settings.js";
export type { RolloutCorrection } from "../learn/correction/rollout-correction.js";

// Fine-tuning
export { fineTune } from "../learn/sft/fine-tune.js";
export type { SftOptions } from "../learn/sft/train.js";
export { loadDataset } from "../learn/sft/dataset-info.js";
export type { Conversation } from "../learn/sft/conversation.js";

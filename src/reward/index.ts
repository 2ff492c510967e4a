export { lastBoxed, lastBoxedOrTail, unboxed } from "./boxed.js";
export { byDataSource } from "./by-data-source.js";
export { deepResearch } from "./deep-research.js";
export { diagnose, type Finding } from "./diagnose.js";
export { environmentReward } from "./environment-reward.js";
export { extractAnswer } from "./extract-answer.js";
export { normalizeAnswer, tokenF1 } from "./f1.js";
export { checkFormat, type FormatCheck } from "./format.js";
export { gsm8k } from "./gsm8k.js";
export { judgeReward, type AskedJudge, type JudgeRewardOptions } from "./judge-reward.js";
export {
  judgedTrajectory,
  type JudgedCall,
  type JudgedPrompt,
  type JudgedTrajectory,
  type JudgedTree,
} from "./judged-trajectory.js";
export { builtInRewards, judgedApart, loadReward } from "./load-reward.js";
export { math, mathNumeric } from "./math.js";
export { numericEquivalent } from "./numeric-equivalence.js";
export { mathEquivalent, normalizeMath } from "./math-equivalence.js";
export { exactMatch, substringMatch } from "./qa-em.js";
export {
  groupReward,
  isGroupReward,
  type GroupReward,
  type GroupScores,
  type Reward,
  type RewardContext,
  type RewardFunction,
} from "./reward-function.js";
export { rubric, type RubricPart } from "./rubric.js";
export type { Judged, Score } from "./score.js";
export { score, type ScoreOptions } from "./score-trees.js";
export { Scored, type ScoredTrajectory } from "./scored.js";

export { lastBoxed, lastBoxedOrTail, unboxed } from "./boxed.js";
export { deepResearch } from "./deep-research.js";
export { diagnose, type Finding } from "./diagnose.js";
export { normalizeAnswer, tokenF1 } from "./f1.js";
export { checkFormat, type FormatCheck } from "./format.js";
export { gsm8k } from "./gsm8k.js";
export { builtInRewards, loadReward } from "./load-reward.js";
export { math } from "./math.js";
export { mathEquivalent, normalizeMath } from "./math-equivalence.js";
export { exactMatch, substringMatch } from "./qa-em.js";
export {
  byDataSource,
  rubric,
  type JudgedCall,
  type JudgedTrajectory,
  type RewardFunction,
  type RubricPart,
} from "./reward-function.js";
export type { Judged, Score } from "./score.js";
export { score } from "./score-trees.js";
export { Scored, type ScoredTrajectory } from "./scored.js";

/** Does entropy rise after tool results? Statistics over trees. Experimental: may change in any release. */

export {
  entropyStatistics,
  type EntropyStatistics,
} from "../../rollout/entropy/entropy-statistics.js";
export type { EntropyStatisticOptions } from "../../rollout/entropy/options.js";
export type { BootstrapOptions, BootstrapEstimate } from "../../rollout/entropy/bootstrap.js";
export { entropyRise, type EntropyRise } from "../../rollout/entropy/entropy-rise.js";
export { entropyContent, type EntropyContent } from "../../rollout/entropy/entropy-content.js";
export {
  entropyOutcome,
  type ForkOutcome,
  type TrajectoryScores,
} from "../../rollout/entropy/entropy-outcome.js";
export {
  entropyByDistance,
  type DistanceProfile,
  type ProfilePoint,
} from "../../rollout/entropy/entropy-by-distance.js";
export {
  callConcentration,
  type CallConcentration,
} from "../../rollout/entropy/call-concentration.js";
export { recordedRise, type RecordedRound } from "../../rollout/entropy/entropy-rise.js";
export type { EntropySignal } from "../../rollout/entropy/model-tokens.js";
export type { ModelTokenOptions, ProfiledTree } from "../../rollout/entropy/model-tokens.js";
export type { TokenKind } from "../../rollout/entropy/model-tokens.js";
export { EntropyBaselines } from "../../rollout/branch/entropy-baselines.js";
export { ConsecutivePenalty } from "../../rollout/branch/consecutive-penalty.js";

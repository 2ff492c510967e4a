/** Does entropy rise after tool results? Statistics over trees. Experimental: may change in any release. */

export {
  entropyStatistics,
  type EntropyStatistics,
} from "../../measure/entropy/entropy-statistics.js";
export type { EntropyStatisticOptions } from "../../measure/entropy/options.js";
export type { BootstrapOptions, BootstrapEstimate } from "../../measure/entropy/bootstrap.js";
export { entropyRise, type EntropyRise } from "../../measure/entropy/entropy-rise.js";
export { entropyContent, type EntropyContent } from "../../measure/entropy/entropy-content.js";
export {
  entropyOutcome,
  type ForkOutcome,
  type TrajectoryScores,
} from "../../measure/entropy/entropy-outcome.js";
export {
  entropyByDistance,
  type DistanceProfile,
  type ProfilePoint,
} from "../../measure/entropy/entropy-by-distance.js";
export {
  callConcentration,
  type CallConcentration,
} from "../../measure/entropy/call-concentration.js";
export { recordedRise, type RecordedRound } from "../../measure/entropy/entropy-rise.js";
export type { EntropySignal } from "../../measure/entropy/model-tokens.js";
export type { ModelTokenOptions, ProfiledTree } from "../../measure/entropy/model-tokens.js";
export type { TokenKind } from "../../measure/entropy/model-tokens.js";
export { EntropyBaselines } from "../../rollout/branch/entropy-baselines.js";
export { ConsecutivePenalty } from "../../rollout/branch/consecutive-penalty.js";

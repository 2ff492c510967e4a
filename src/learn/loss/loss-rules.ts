import {
  above,
  anyNumber,
  finite,
  notNegative,
  oneOf,
  type OptionRules,
  positive,
  share,
} from "../../arguments/check-options.js";
import { klKinds } from "./kl.js";
import type { ActorLossOptions } from "./losses.js";
import { aggregationRules, type ClipOptions, lossAggregations } from "./options.js";
import { lossNames } from "./registry.js";

export const clipRules: OptionRules<ClipOptions> = {
  clipRatio: notNegative,
  clipRatioLow: notNegative,
  clipRatioHigh: notNegative,
  clipRatioC: above(1),
};

/** What every option of a loss may be. */
export const lossRules: OptionRules<ActorLossOptions> = {
  loss: oneOf(lossNames),
  aggregation: oneOf(lossAggregations),
  aggregationRule: oneOf(aggregationRules),
  ...clipRules,
  entropyBalancedClipping: "boolean?",
  entropyBalancedAdvantage: "boolean?",
  paddedLength: positive,
  referenceNaN: "boolean?",
  tauPositive: positive,
  tauNegative: positive,
  clipCovRatio: share,
  clipCovLow: anyNumber,
  clipCovHigh: anyNumber,
  klCovRatio: share,
  klCovCoefficient: notNegative,
  droBeta: positive,
  gppoLow: notNegative,
  gppoHigh: notNegative,
  futureDecay: positive,
  futureClip: notNegative,
  futureHighOnly: "boolean?",
  futureWeight: finite,
  futureSafety: positive,
  entropyCoefficient: finite,
  klLossCoefficient: finite,
  klLossKind: oneOf(klKinds),
};

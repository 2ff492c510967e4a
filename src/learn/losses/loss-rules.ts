import {
  above,
  anyNumber,
  finite,
  notNegative,
  oneOf,
  type OptionRules,
  positive,
  share,
} from "../../../common/options/check-options.js";
import { type KlKind, klKinds } from "./base/kl.js";
import { aggregationRules, type ClipOptions, lossAggregations } from "./base/options.js";
import { type LossChoice, lossNames, type PolicyLossOptions } from "./registry.js";
import type { TokenRuleOptions } from "./base/token-rule.js";

export const clipRules: OptionRules<ClipOptions> = {
  clipRatio: notNegative,
  clipRatioLow: notNegative,
  clipRatioHigh: notNegative,
  clipRatioC: above(1),
};

/** What decides what becomes of a token. */
export const tokenLossRules: OptionRules<TokenRuleOptions & LossChoice> = {
  loss: oneOf(lossNames),
  ...clipRules,
  entropyBalancedClipping: "boolean?",
  entropyBalancedAdvantage: "boolean?",
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
};

/** What every option of a policy loss may be. */
export const policyLossRules: OptionRules<PolicyLossOptions> = {
  ...tokenLossRules,
  aggregation: oneOf(lossAggregations),
  aggregationRule: oneOf(aggregationRules),
  paddedLength: positive,
  referenceNaN: "boolean?",
};

export interface ActorLossOptions extends PolicyLossOptions {
  /** Weight of the entropy bonus. Default: 0, no bonus. */
  entropyCoefficient?: number;
  /** Weight of the KL loss against `reference`. Default: none, no KL loss at all. */
  klLossCoefficient?: number;
  /** How the KL divergence is estimated. Default: `low_var_kl` (k3). */
  klLossKind?: KlKind;
}

/** What every option of an actor's loss may be. */
export const lossRules: OptionRules<ActorLossOptions> = {
  ...policyLossRules,
  entropyCoefficient: finite,
  klLossCoefficient: finite,
  klLossKind: oneOf(klKinds),
};

import type { OptionRules } from "../../../common/options/check-options.js";
import { type Given, type Named, rulesOf } from "../../../common/options/option-table.js";
import { ownRules } from "./base/definition.js";
import {
  aggregationTable,
  arithmeticTable,
  balanceTable,
  clipTable,
  rowTable,
  termTable,
} from "./base/options.js";
import {
  type LossChoice,
  type LossParameters,
  lossRegistry,
  ownTable,
  type PolicyLossOptions,
} from "./registry.js";

/** What decides what becomes of a token. */
export interface TokenLossOptions
  extends
    LossChoice,
    Given<typeof clipTable>,
    Given<typeof balanceTable>,
    Given<typeof rowTable>,
    LossParameters {}

export interface ActorLossOptions extends PolicyLossOptions, Given<typeof termTable>, Named {}

// What a program adds, or gives as it is, has options too: these are asked anew for every check.

/** The checks of what decides what becomes of a token, under a loss. */
export const tokenLossRules = (choice?: LossChoice): OptionRules<TokenLossOptions> => ({
  loss: lossRegistry.rule,
  ...rulesOf(clipTable),
  ...rulesOf(balanceTable),
  ...rulesOf(rowTable),
  ...rulesOf(ownTable()),
  ...(typeof choice?.loss === "object" && choice.loss !== null ? ownRules(choice.loss) : {}),
});

/** What every option of a policy loss may be. */
export const policyLossRules = (choice?: LossChoice): OptionRules<PolicyLossOptions> => ({
  ...tokenLossRules(choice),
  ...rulesOf(aggregationTable),
  ...rulesOf(arithmeticTable),
});

/** What every option of an actor's loss may be. */
export const lossRules = (choice?: LossChoice): OptionRules<ActorLossOptions> => ({
  ...policyLossRules(choice),
  ...rulesOf(termTable),
});

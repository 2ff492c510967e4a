import type { LossDefinition, LossFacts, LossSettings } from "./base/definition.js";
import { ceGppo } from "./ce-gppo.js";
import { cispo } from "./cispo.js";
import { clipCov } from "./clip-cov.js";
import { dppoKl, dppoTv } from "./dppo.js";
import { dro } from "./dro.js";
import { futureKl } from "./future-kl.js";
import { geoMean } from "./geo-mean.js";
import { gpg } from "./gpg.js";
import { gspo } from "./gspo.js";
import { klCov } from "./kl-cov.js";
import { sapo } from "./sapo.js";
import { gspoTurn, turn } from "./turns.js";
import { vanilla } from "./vanilla.js";
import type { AggregationRule, LossAggregation } from "./base/options.js";

/**
 * Every loss, under verl's name where it has one. A new loss is a definition and its line here: facts,
 * options, configuration keys, stages, exports to verl and the explainer come from it.
 */
export const lossDefinitions = {
  vanilla,
  gspo,
  cispo,
  sapo,
  clip_cov: clipCov,
  kl_cov: klCov,
  geo_mean: geoMean,
  gpg,
  dro,
  dppo_tv: dppoTv,
  dppo_kl: dppoKl,
  ce_gppo: ceGppo,
  gspo_turn: gspoTurn,
  turn,
  future_kl: futureKl,
} as const satisfies Record<string, LossDefinition>;

export type LossName = keyof typeof lossDefinitions;

/**
 * The losses by name, verl's where it has one: `vanilla` is PPO with dual clip (GRPO, ARPO and, with its
 * two switches, AEPO); `geo_mean` is GMPO; `gspo_turn` is AT2PO's and `turn` Tree-GRPO's; `future_kl` is
 * APPO's.
 */
export const lossNames = Object.keys(lossDefinitions) as unknown as readonly [
  LossName,
  ...LossName[],
];

/** What there is to know of every loss. */
export const lossFacts: Readonly<Record<LossName, LossFacts>> = lossDefinitions;

/** How a loss is chosen. */
export interface LossChoice {
  /** Default: `vanilla`. */
  loss?: LossName;
}

/** The loss that options choose. */
export function lossNameOf(options: LossChoice): LossName {
  const { loss = "vanilla" } = options;
  if (!lossNames.includes(loss)) {
    throw new RangeError(
      `Cannot choose a loss: it must be one of ${lossNames.join(", ")}, got ${String(loss)}`,
    );
  }
  return loss;
}

/** What decides how token losses are aggregated. */
export interface AggregationChoice extends LossChoice {
  /** Default: the loss's own. */
  aggregation?: LossAggregation;
  /** Whose arithmetic that follows: the older verl's or that of 0.9.1. Default: the loss's own. */
  aggregationRule?: AggregationRule;
}

/** How token losses are aggregated: the one place that says so, for losses, passes and views alike. */
export function aggregationOf(options: AggregationChoice): {
  mode: LossAggregation;
  rule: AggregationRule;
} {
  const facts = lossFacts[lossNameOf(options)];
  if (facts.ownAggregation) return { mode: facts.aggregation, rule: facts.rule };
  return {
    mode: options.aggregation ?? facts.aggregation,
    rule: options.aggregationRule ?? facts.rule,
  };
}

/** What a loss can be told, its name included. */
export interface PolicyLossOptions extends LossSettings, AggregationChoice {}

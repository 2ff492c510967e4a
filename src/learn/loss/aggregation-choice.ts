import type { AggregationRule, LossAggregation } from "./aggregation-modes.js";
import { type LossChoice, lossFacts, lossNameOf } from "./loss-names.js";

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

import { integer, notNegative } from "../../../common/options/check-options.js";
import { key, unset } from "../../../common/options/option-table.js";
import { limitWords, stalenessLimits } from "./limits/registry.js";

/** How far ahead of its updates a run draws its rollouts. */
export const stalenessTable = {
  /**
   * Draw rollouts so many updates before they are trained on: 0, by the weights that are updated; 1, by those before the
   * last update. Default: 0, or as many as `stalenessLimit` allows.
   */
  async: unset(
    integer(0),
    key(
      "lab.async",
      "Draw rollouts so many updates before they are trained on; none: 0, or as many as staleness_limit allows",
      { most: 1000 },
    ),
  ),
  /**
   * Sample with the weights of every so many updates: rollouts of the steps between are drawn ahead. Default: 1, of the
   * limit `verl-fully-async` 4.
   */
  syncEvery: unset(
    integer(1),
    key(
      "async_training.trigger_parameter_sync_step",
      "Updates between two weights that rollouts are drawn with; none: 1, of verl-fully-async 4",
      { most: 1000 },
    ),
  ),
  /** Whose bound on the age of rollouts holds. Default: none, `async` alone. */
  stalenessLimit: unset(
    stalenessLimits.rule,
    key(
      "lab.staleness_limit",
      `Whose bound on the age of rollouts holds, with its published value: ${limitWords()}; none: lab.async alone`,
    ),
  ),
  /** Its bound, in updates. Default: the published one. */
  maxStaleness: unset(
    integer(0),
    key("lab.max_staleness", "Its bound, in updates; none: the published one", { most: 1000 }),
  ),
  /** The bound of `verl-fully-async`: samples drawn ahead, as a share of those until the next weights. Default: 0.1. */
  stalenessThreshold: unset(
    notNegative,
    key(
      "async_training.staleness_threshold",
      "Samples drawn ahead, as a share of those until the next weights: the bound of verl-fully-async; none: 0.1",
    ),
  ),
};

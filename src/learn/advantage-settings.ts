import { oneOf, share, valuesOf } from "../../common/options/check-options.js";
import { key, option } from "../../common/options/option-table.js";

/** What the estimators of scores and groups can be told. */
export const advantageTable = {
  /** Discount; used by gae and reinforce_plus_plus. Default: 1. */
  gamma: option(share, 1, key("algorithm.gamma", "Discount")),
  /** GAE's lambda. Default: 1. */
  lambda: option(share, 1, key("algorithm.lam", "GAE's lambda")),
  /** GRPO: divide by the group's deviation. Default: true. */
  normalizeByDeviation: option(
    valuesOf<boolean>("boolean?"),
    true,
    key("algorithm.norm_adv_by_std_in_grpo", "GRPO: divide by the group's deviation"),
  ),
  /**
   * Tokens shared by several trajectories: `soft` gives each trajectory its own advantage on them (plain
   * GRPO, the paper's), `hard` gives them the mean of the trajectories that share them. Default: `soft`.
   */
  attribution: option(oneOf(["soft", "hard"]), "soft"),
};

import { checkArguments } from "../arguments/check-arguments.js";
import { checkOptions, oneOf } from "../arguments/check-options.js";
import type { Scored } from "../reward/scored.js";
import { advantageRules, type AdvantageOptions, placeReward } from "./advantages.js";
import {
  type FamilyEstimator,
  familyCredit,
  familyEstimators,
  isFamilyEstimator,
} from "./credit/adapt/estimate.js";
import type { Credit } from "./credit/credit.js";
import { withPreset } from "./presets.js";
import { grpoCredit, rlooCredit } from "./credit/row-credit.js";

/**
 * The estimators that can say what made an advantage.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { creditEstimators } from "arpo-lab/experimental/family";
 *
 * assert.ok(creditEstimators.includes("grpo") && creditEstimators.includes("treerl"));
 * ```
 */
export const creditEstimators: readonly ("grpo" | "rloo" | FamilyEstimator)[] = [
  "grpo",
  "rloo",
  ...familyEstimators,
];

/**
 * The advantages of scored trajectories, and the sum behind each: what `advantages` gives, with the terms
 * by name. A token's advantage is the sum of its terms, times every factor.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { creditOf } from "arpo-lab/experimental/family";
 * import { score } from "arpo-lab/learn";
 * import { rollout } from "arpo-lab/rollout";
 * import { babbler } from "arpo-lab/experimental/testing";
 *
 * const tree = await rollout(babbler(), { prompt: "6*7?" }, { n: 4, initialRollouts: 2, seed: 1 });
 * const credit = creditOf(await score(tree, ({ length }) => length % 2), { estimator: "spo_tree" });
 * const { terms } = credit.explain(0, 0)!;
 * assert.deepEqual(terms.map(({ name }) => name), ["worth of the segment", "worth of its parent"]);
 * assert.equal(terms.reduce((sum, { value }) => sum + value, 0), credit.advantages[0][0]);
 * ```
 */
export function creditOf(scored: Scored, given: AdvantageOptions = {}): Credit {
  checkArguments("give credit", { scored }, { scored: { rows: "list", trees: "list" } });
  checkOptions("give credit", given, { ...advantageRules, estimator: oneOf(creditEstimators) });
  const options = withPreset("give credit", given);
  const { estimator = "grpo", normalizeByDeviation } = options;
  const rewards = options.tokenRewards ?? scored.rows.map(placeReward);
  if (isFamilyEstimator(estimator)) return familyCredit(scored, rewards, estimator, options);
  const mask = scored.rows.map(({ trajectory }) => trajectory.lossMask);
  const outcome = { rewards, mask, groups: scored.rows.map(({ group }) => group) };
  if (estimator === "grpo") {
    return grpoCredit(outcome, normalizeByDeviation === undefined ? {} : { normalizeByDeviation });
  }
  return rlooCredit(outcome);
}

import { checkArguments } from "../../../common/options/check-arguments.js";
import type { BranchNumbers, BranchSituation, BranchVerdict } from "../branch/branch-rule.js";
import type { RolloutConfig } from "../settings.js";
import type { AttemptDefinition } from "./attempt.js";
import { attemptRuleNamed, attemptRules, type BranchRule } from "./registry.js";

/** What a branching rule is set to. */
export interface BranchSettings extends BranchNumbers {
  rule: BranchRule;
}

/**
 * Decides one attempt at a branch.
 *
 * - `arpo-code`: s = clamp(u - w delta, 0, 1); branch unless s > p.
 * - `arpo-paper`: P = p + w delta; branch iff P > tau.
 * - `seed-docs`: branch iff H > w H_base and u < p.
 * - `aepo-code`: s = clamp((u + w delta) max(0, 1 - slope c), 0, 1); branch unless s < p.
 * - `aepo-paper`: P = (p + w delta)(1 - slope c); branch iff P > tau.
 *
 * @param settings the rule with its numbers
 * @param situation the entropies and counts at the branch point
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { decideBranch } from "arpo-lab/rollout";
 *
 * const settings = { probability: 0.5, weight: 0.2, threshold: 0.5, penaltySlope: 0.05 };
 * const situation = { u: 0.6, entropy: 1, baseline: 0.4, consecutive: 0 };
 * const { branch, reason } = decideBranch({ rule: "arpo-code", ...settings }, situation);
 * assert.equal(branch, true);
 * assert.equal(reason, "u - w·ΔH = 0.6 - 0.2·0.6 = 0.48 is not above p = 0.5");
 * ```
 */
export function decideBranch(settings: BranchSettings, situation: BranchSituation): BranchVerdict {
  checkArguments(
    "decide a branch",
    { settings, situation },
    {
      settings: {
        rule: "text",
        probability: "number",
        weight: "number",
        threshold: "number",
        penaltySlope: "number",
      },
      situation: { u: "number", entropy: "number", baseline: "number", consecutive: "number" },
    },
  );
  const { rule, ...numbers } = settings;
  const definition: AttemptDefinition | undefined = attemptRuleNamed(rule);
  if (definition) return definition.decide(numbers, situation);
  throw new RangeError(
    `Cannot decide a branch: settings.rule must be one of ${attemptRules().join(", ")}, got ${String(rule)}`,
  );
}

/** How a tree's attempts at branches are decided. A rule that looks at what has been written makes none. */
export const branchOf = (
  config: Pick<
    RolloutConfig,
    "rule" | "expand" | "branchProbability" | "entropyWeight" | "threshold" | "penaltySlope"
  >,
): BranchSettings => ({
  rule: config.expand ? "arpo-code" : (config.rule as BranchRule),
  probability: config.branchProbability,
  weight: config.entropyWeight,
  threshold: config.threshold,
  penaltySlope: config.penaltySlope,
});

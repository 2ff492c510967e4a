import * as exact from "../../base/exact/index.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, finite, oneOf } from "../../../common/options/check-options.js";
import { mean } from "../../base/statistics.js";

/** AEPO's split of the budget between fresh rollouts and branches. */
export interface DynamicBudget {
  /** Mean entropy of the probe's steps; the root's when there were none. */
  meanEntropy: number;
  sigmoid: number;
  /** n times sigmoid: the paper's value, before rounding. */
  share: number;
  /** Rollouts to start with, from 1 to n. */
  initialRollouts: number;
}

/**
 * How many of n rollouts start fresh: many where the question itself is uncertain (root entropy above
 * the mean of the steps), few where the tools' answers are.
 *
 * `formula: "code"` (default) truncates and adds one; `"paper"` rounds the paper's real value.
 *
 * @param n rollouts in all
 * @param rootEntropy the entropy at the question
 * @param stepEntropies the entropies after tool answers
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { dynamicBudget } from "arpo-lab/rollout";
 *
 * assert.equal(dynamicBudget(16, 2.25, [1.17]).initialRollouts, 11);
 * assert.equal(dynamicBudget(16, 2.25, [1.17], { formula: "paper" }).initialRollouts, 10);
 * ```
 */
export function dynamicBudget(
  n: number,
  rootEntropy: number,
  stepEntropies: readonly number[],
  options: {
    /** How steeply the share follows the difference of the entropies. Default: 0.5. */
    beta?: number;
    /** `code` truncates and adds one; `paper` rounds the real value. Default: `code`. */
    formula?: "code" | "paper";
  } = {},
): DynamicBudget {
  checkArguments(
    "find a budget",
    { n, rootEntropy, stepEntropies },
    { n: "number", rootEntropy: "number", stepEntropies: "list" },
  );
  checkOptions("find a budget", options, { beta: finite, formula: oneOf(["code", "paper"]) });
  const meanEntropy = stepEntropies.length > 0 ? mean(stepEntropies) : rootEntropy;
  const sigmoid = 1 / (1 + exact.exp(-(options.beta ?? 0.5) * (rootEntropy - meanEntropy)));
  const share = n * sigmoid;
  const wanted = options.formula === "paper" ? Math.round(share) : Math.trunc(share) + 1;
  return { meanEntropy, sigmoid, share, initialRollouts: Math.min(n, Math.max(1, wanted)) };
}

import { gae, reinforcePlusPlus, reinforcePlusPlusOlder, remax } from "./advantage/by-token.js";
import {
  gpg,
  grpoPassAtK,
  grpo,
  opo,
  reinforcePlusPlusBaseline,
  rloo,
} from "./advantage/by-group.js";

/**
 * The advantage estimators as functions of numbers, under the names that `advantages` takes. Rewards and
 * masks are rows of tokens; rows with the same group are compared with each other. The estimators of the
 * tree methods are in `arpo-lab/experimental/family`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { estimators } from "arpo-lab/learn";
 *
 * const input = { rewards: [[0, 1], [0, 0]], mask: [[1, 1], [1, 1]], groups: ["a", "a"] };
 * const { advantages } = estimators.grpo(input, { normalizeByDeviation: false });
 * assert.deepEqual(advantages.map((row) => [...row]), [[0.5, 0.5], [-0.5, -0.5]]);
 * ```
 */
export const estimators = {
  gae,
  grpo,
  rloo,
  reinforce_plus_plus: reinforcePlusPlus,
  reinforce_plus_plus_older: reinforcePlusPlusOlder,
  reinforce_plus_plus_baseline: reinforcePlusPlusBaseline,
  remax,
  opo,
  grpo_passk: grpoPassAtK,
  gpg,
} as const;

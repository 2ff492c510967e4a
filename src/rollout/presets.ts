import type { RolloutOptions } from "./options.js";

/**
 * The published settings of a rollout: those of the ARPO reasoning script, and what GRPO and AEPO
 * change in them.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rolloutPresets } from "arpo-lab/rollout";
 *
 * assert.equal(rolloutPresets.aepo.rule, "aepo-code");
 * ```
 */
export const rolloutPresets = {
  /** n independent trajectories, no branching. */
  grpo: { n: 16, initialRollouts: 16, beamSize: 1, callLimit: 3 },
  arpo: {
    rule: "arpo-code",
    n: 16,
    initialRollouts: 8,
    beamSize: 2,
    branchProbability: 0.5,
    entropyWeight: 0.2,
    callLimit: 3,
  },
  /** The dynamic budget is off, as in the published scripts; `dynamicRollouts: true` turns it on. */
  aepo: {
    rule: "aepo-code",
    n: 16,
    initialRollouts: 8,
    beamSize: 2,
    branchProbability: 0.5,
    entropyWeight: 0.2,
    callLimit: 6,
    dynamicRollouts: false,
  },
} as const satisfies Record<string, RolloutOptions>;

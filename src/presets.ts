import type { AdvantageOptions, UpdateOptions } from "./learn/index.js";
import { rolloutPresets, type RolloutOptions } from "./rollout/index.js";

/** What a cell needs to know of an algorithm: how it rolls out, and how it updates. */
export type CellPreset = RolloutOptions & UpdateOptions & AdvantageOptions;

const balanced = { entropyBalancedClipping: true, entropyBalancedAdvantage: true };

/**
 * GRPO, ARPO and AEPO as options of `rollout`, `advantages` and `update`; each function takes from them
 * what concerns it.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { presets } from "arpo-lab";
 *
 * assert.equal(presets.arpo.initialRollouts, 8);
 * assert.ok(presets.aepo.entropyBalancedClipping && !presets.arpo.entropyBalancedClipping);
 * ```
 */
export const presets: Readonly<Record<"grpo" | "arpo" | "aepo", CellPreset>> = {
  grpo: { ...rolloutPresets.grpo, estimator: "grpo" },
  arpo: { ...rolloutPresets.arpo, estimator: "grpo" },
  aepo: { ...rolloutPresets.aepo, estimator: "grpo", ...balanced },
};

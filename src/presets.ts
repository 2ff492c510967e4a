import type { AdvantageOptions } from "./learn/advantages.js";
import type { UpdateOptions } from "./learn/update-options.js";
import { lossPresets } from "./learn/loss/loss-presets.js";
import type { RolloutOptions } from "./rollout/options.js";
import { rolloutPresets } from "./rollout/presets.js";

/** What a cell needs to know of an algorithm: how it rolls out, and how it updates. */
export type CellPreset = RolloutOptions & UpdateOptions & AdvantageOptions;

const balanced = { entropyBalancedClipping: true, entropyBalancedAdvantage: true };

/** The one table of the algorithms' settings: the configuration's presets are made of it too. */
export const algorithms = {
  grpo: { ...rolloutPresets.grpo, estimator: "grpo" },
  arpo: { ...rolloutPresets.arpo, estimator: "grpo" },
  aepo: { ...rolloutPresets.aepo, estimator: "grpo", ...balanced },
  "tree-grpo": {
    ...rolloutPresets["tree-grpo"],
    ...lossPresets["tree-grpo"],
    estimator: "tree_grpo",
  },
  at2po: { ...rolloutPresets.at2po, ...lossPresets.at2po, estimator: "at2po" },
  treerl: { ...rolloutPresets.treerl, estimator: "treerl" },
  appo: { ...rolloutPresets.appo, ...lossPresets.appo, estimator: "appo" },
  fr3e: { ...rolloutPresets.fr3e, ...lossPresets.fr3e, estimator: "fr3e" },
  treepo: { ...rolloutPresets.treepo, ...lossPresets.treepo, estimator: "treepo" },
  "spo-tree": { ...rolloutPresets["spo-tree"], estimator: "spo_tree" },
} as const satisfies Record<string, CellPreset>;

/**
 * GRPO, ARPO, AEPO and the methods around them as options of `rollout`, `advantages` and `update`; each function takes from them
 * what concerns it. The configuration's presets of the same names are made of these.
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
export const presets: Readonly<Record<keyof typeof algorithms, CellPreset>> = algorithms;

import { asPreset } from "../../common/options/check-options.js";
import type { AdvantageOptions } from "../learn/advantages.js";
import type { UpdateOptions } from "../learn/update/update-settings.js";
import { learnPresets } from "../learn/presets.js";
import {
  type FamilyPreset,
  familyPresets,
  type PresetName,
  rolloutPresets,
} from "../rollout/presets.js";
import type { RolloutOptions } from "../rollout/options.js";

/** What a cell needs to know of an algorithm: how it rolls out, and how it updates. */
export type CellPreset = RolloutOptions & UpdateOptions & AdvantageOptions;

/** The one table of the algorithms' settings: the configuration's presets are made of it too. */
export const algorithms = {
  grpo: { ...rolloutPresets.grpo, ...learnPresets.grpo },
  arpo: { ...rolloutPresets.arpo, ...learnPresets.arpo },
  aepo: { ...rolloutPresets.aepo, ...learnPresets.aepo },
  ...(Object.fromEntries(
    familyPresets.map((name) => [name, { ...rolloutPresets[name], ...learnPresets[name] }]),
  ) as Record<FamilyPreset, CellPreset>),
} as const satisfies Record<PresetName, CellPreset>;

/**
 * What `preset: "arpo"` sets, to look at: GRPO, ARPO, AEPO and the methods around them. `rollout`,
 * `advantages` and `update` each take their part of a preset by its name, and options given beside it
 * override it. The configuration's presets of the same names are made of these.
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
export const presets = Object.fromEntries(
  Object.entries(algorithms).map(([name, options]) => [name, asPreset(options)]),
) as Readonly<Record<PresetName, CellPreset>>;

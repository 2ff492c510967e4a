import { oneOf } from "../arguments/check-options.js";
import { named } from "../arguments/named.js";
import type { PresetName } from "../rollout/preset-name.js";
import { lossPresets } from "./loss/loss-presets.js";
import type { UpdateOptions } from "./update-options.js";

/** What each algorithm's preset says of advantages and of updates. */
export const learnPresets = {
  grpo: { estimator: "grpo" },
  arpo: { estimator: "grpo" },
  aepo: { estimator: "grpo", entropyBalancedClipping: true, entropyBalancedAdvantage: true },
  "tree-grpo": { ...lossPresets["tree-grpo"], estimator: "tree_grpo" },
  at2po: { ...lossPresets.at2po, estimator: "at2po" },
  treerl: { estimator: "treerl" },
  appo: { ...lossPresets.appo, estimator: "appo" },
  fr3e: { ...lossPresets.fr3e, estimator: "fr3e" },
  treepo: { ...lossPresets.treepo, estimator: "treepo" },
  "spo-tree": { estimator: "spo_tree" },
} as const satisfies Record<PresetName, UpdateOptions & { estimator: string }>;

export const presetRule = oneOf(Object.keys(learnPresets));

/** Options with those of the preset that they name below them. */
export function withPreset<T extends { preset?: PresetName }>(action: string, options: T): T {
  if (options?.preset === undefined) return options;
  const { preset, ...own } = options;
  return { ...named<object>(action, "preset", preset, learnPresets), ...own } as T;
}

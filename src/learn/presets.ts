import type { FamilyPreset } from "../rollout/presets.js";
import { type FamilyEstimator, estimatorDefinitions } from "./estimators/registry.js";
import type { PublishedUpdate } from "./losses/registry.js";

/** What a method's preset says of advantages and of updates. */
type MethodPreset = PublishedUpdate & { estimator: FamilyEstimator };

/** What each algorithm's preset says of advantages and of updates. */
export const learnPresets = {
  grpo: { estimator: "grpo" },
  arpo: { estimator: "grpo" },
  aepo: { estimator: "grpo", entropyBalancedClipping: true, entropyBalancedAdvantage: true },
  ...(Object.fromEntries(
    estimatorDefinitions.flatMap(({ name: estimator, preset }) =>
      preset ? [[preset.name, { ...preset.update, estimator }]] : [],
    ),
  ) as Record<FamilyPreset, MethodPreset>),
} as const;

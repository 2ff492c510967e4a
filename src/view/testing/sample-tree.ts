import { rollout } from "../../rollout/rollout.js";
import { rolloutPresets } from "../../rollout/presets.js";
import type { RolloutOptions } from "../../rollout/options.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { randomTextPolicy } from "../../rollout/testing/random-text-policy.js";
import { calculator } from "../../tools/calculator/calculator.js";
import { ToolSet } from "../../tools/tool-set.js";

const tools = new ToolSet([calculator()], { callLimit: 5 });

/** A tree of some size, with decisions in it, without a model. */
export function sampleTree(
  options: RolloutOptions = {},
): Promise<RolloutTree<{ prompt: string; groundTruth: string; id: string }>> {
  return rollout(
    randomTextPolicy(),
    { prompt: "q", groundTruth: "42", id: "sample" },
    { ...rolloutPresets.arpo, n: 12, initialRollouts: 3, beamSize: 4, tools, ...options },
  );
}

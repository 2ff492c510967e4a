import {
  rollout,
  rolloutPresets,
  type RolloutOptions,
  type RolloutTree,
} from "../../rollout/index.js";
import { babbler } from "../../rollout/testing/index.js";
import { calculator, ToolSet } from "../../tools/index.js";

const tools = new ToolSet([calculator()], { callLimit: 5 });

/** A tree of some size, with decisions in it, without a model. */
export function sampleTree(
  options: RolloutOptions = {},
): Promise<RolloutTree<{ prompt: string; groundTruth: string; id: string }>> {
  return rollout(
    babbler(),
    { prompt: "q", groundTruth: "42", id: "sample" },
    { ...rolloutPresets.arpo, n: 12, initialRollouts: 3, beamSize: 4, tools, ...options },
  );
}

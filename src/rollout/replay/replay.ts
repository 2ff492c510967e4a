import { branchRules } from "../branch/branch-rule.js";
import { checkArguments, shown } from "../../arguments/index.js";
import { followPlan, type Replay, type ReplayChanges } from "./follow-plan.js";
import { planReplay } from "./plan.js";
import type { RolloutTreeData } from "../tree/tree-data.js";

/** Replays the branch decisions of a tree under other settings. */
export function replayBranches(tree: RolloutTreeData, changes: ReplayChanges): Replay {
  checkArguments(
    "replay",
    { changes },
    {
      changes: {
        probability: "number?",
        weight: "number?",
        threshold: "number?",
        penaltySlope: "number?",
      },
    },
  );
  const { rule, penalty } = changes;
  if (rule !== undefined && !branchRules.includes(rule)) {
    throw new RangeError(
      `Cannot replay: rule must be one of ${branchRules.join(", ")}, got ${shown(rule)}`,
    );
  }
  if (penalty !== undefined && penalty !== "prompt" && penalty !== "path") {
    throw new RangeError(`Cannot replay: penalty must be prompt or path, got ${shown(penalty)}`);
  }
  return followPlan(planReplay(tree), changes);
}

import { branchRules } from "../branch/branch-rule.js";
import { completeSettings } from "../branch/family/complete-settings.js";
import {
  expansionRules,
  isExpansion,
  settingsBesidesRule,
  type ExpandOptions,
  type ExpansionRule,
} from "../branch/family/settings.js";
import { checkArguments } from "../../arguments/check-arguments.js";
import { shown } from "../../arguments/shown.js";
import type { RolloutTreeData } from "../tree/tree-data.js";
import { followExpansion } from "./follow-expansion.js";
import { followPlan, type ReplayChanges } from "./follow-plan.js";
import { planExpansion, type ExpansionReading } from "./plan-expansion.js";
import { planReplay } from "./plan.js";
import type { Replay } from "./replay-result.js";

/** What `replay` may change, whatever the rule. */
export interface TreeReplayChanges extends Omit<ReplayChanges, "rule">, ExpansionReading {
  /** Default: the tree's own. */
  rule?: ReplayChanges["rule"] | ExpansionRule;
  /** Settings of a rule that looks at what has been written. Default: the tree's, or as published. */
  expand?: ExpandOptions;
  /** How often a row may branch a round. Default: as often as when the tree was made. */
  attemptsPerTrajectory?: number;
}

/** Replays the branch decisions of a tree under other settings. */
export function replayBranches(tree: RolloutTreeData, changes: TreeReplayChanges): Replay {
  checkArguments(
    "replay",
    { changes },
    {
      changes: {
        probability: "number?",
        weight: "number?",
        threshold: "number?",
        penaltySlope: "number?",
        attemptsPerTrajectory: "count?",
        expand: "object?",
        tokenizer: "tokenizer?",
        current: "list?",
      },
    },
  );
  const { expand, tokenizer, current, attemptsPerTrajectory, ...decided } = changes;
  const rules = [...branchRules, ...expansionRules] as readonly string[];
  const { penalty } = changes;
  const rule = changes.rule ?? tree.config.expansion?.rule ?? tree.config.branch.rule;
  if (!rules.includes(rule)) {
    throw new RangeError(
      `Cannot replay: rule must be one of ${rules.join(", ")}, got ${shown(rule)}`,
    );
  }
  if (penalty !== undefined && penalty !== "prompt" && penalty !== "path") {
    throw new RangeError(`Cannot replay: penalty must be prompt or path, got ${shown(penalty)}`);
  }
  if (isExpansion(rule)) {
    const own = tree.config.expansion;
    const was = own?.rule === rule ? settingsBesidesRule(own) : {};
    const settings = completeSettings("replay", rule, { ...was, ...expand });
    return followExpansion(planExpansion(tree, settings, { tokenizer, current }));
  }
  return followPlan(planReplay(tree, attemptsPerTrajectory), { ...decided, rule });
}

import { checkOptions, type OptionRules } from "../../../arguments/check-options.js";
import { completeSettings } from "../branch/family/complete-settings.js";
import {
  type ExpandOptions,
  type ExpansionRule,
  isExpansion,
  settingsBesidesRule,
} from "../branch/family/settings.js";
import { rolloutRules } from "../option-rules.js";
import type { RolloutTreeData } from "../tree/tree-data.js";
import { followExpansion } from "./follow-expansion.js";
import { followPlan, type ReplayChanges } from "./follow-plan.js";
import { type ExpansionReading, planExpansion } from "./plan-expansion.js";
import { planReplay } from "./plan.js";
import type { Replay } from "./replay-result.js";

/** What `replay` may change, whatever the rule. */
export interface TreeReplayChanges extends Omit<ReplayChanges, "rule">, ExpansionReading {
  /** Default: the tree's own. */
  rule?: ReplayChanges["rule"] | ExpansionRule;
  /** Settings of a rule that looks at what has been written. Default: the tree's, or as published. */
  expand?: ExpandOptions;
  /** How often a trajectory may branch a round. Default: as often as when the tree was made. */
  attemptsPerTrajectory?: number;
}

const replayRules: OptionRules<TreeReplayChanges> = {
  rule: rolloutRules.rule,
  probability: rolloutRules.branchProbability,
  weight: rolloutRules.entropyWeight,
  threshold: rolloutRules.threshold,
  penaltySlope: rolloutRules.penaltySlope,
  penalty: rolloutRules.penalty,
  attemptsPerTrajectory: rolloutRules.attemptsPerTrajectory,
  expand: rolloutRules.expand,
  tokenizer: "tokenizer?",
  current: "list?",
};

/** Replays the branch decisions of a tree under other settings. */
export function replayBranches(tree: RolloutTreeData, changes: TreeReplayChanges): Replay {
  checkOptions("replay", changes, replayRules);
  const { expand, tokenizer, current, attemptsPerTrajectory, ...decided } = changes;
  const rule = changes.rule ?? tree.config.expansion?.rule ?? tree.config.branch.rule;
  if (isExpansion(rule)) {
    const own = tree.config.expansion;
    const was = own?.rule === rule ? settingsBesidesRule(own) : {};
    if (was.signal === "own") delete was.signal;
    const settings = completeSettings("replay", rule, { ...was, ...expand });
    // A function that the rollout was given, or this replay: the tree keeps neither.
    if (
      own?.rule === rule &&
      "signal" in own &&
      own.signal === "own" &&
      expand?.signal === undefined
    )
      Object.assign(settings, { signal: "own" });
    return followExpansion(planExpansion(tree, settings, { tokenizer, current }));
  }
  return followPlan(planReplay(tree, attemptsPerTrajectory), { ...decided, rule });
}

/**
 * The share of the branch decisions of trees that would have been otherwise without the entropy term, from the same
 * draws: what `replay({ weight: 0 })` changes. Undefined where no decision was made.
 */
export function decidedByEntropy(trees: readonly RolloutTreeData[]): number | undefined {
  let [made, changed] = [0, 0];
  for (const tree of trees) {
    const decided = tree.nodes.reduce((sum, { branch = [] }) => sum + branch.length, 0);
    if (decided === 0) continue;
    made += decided;
    const { attempts } = replayBranches(tree, { weight: 0 });
    changed += attempts.filter(({ was, branch }) => was !== undefined && was !== branch).length;
  }
  return made === 0 ? undefined : changed / made;
}

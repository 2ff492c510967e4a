import { checkOptions, type OptionRules } from "../../../common/options/check-options.js";
import { completeSettings } from "../rules/settings.js";
import {
  type AnyRule,
  attemptRuleNamed,
  type BranchRule,
  type ExpandOptions,
  type ExpansionRule,
  type ExpansionSettings,
  writtenRule,
} from "../rules/registry.js";
import { settingsBesidesRule } from "../rules/settings.js";
import { rolloutRules } from "../options.js";
import { expansionOf } from "../settings.js";
import type { RolloutTreeData } from "../tree/tree-data.js";
import { followExpansion } from "./follow-expansion.js";
import { followPlan, type ReplayChanges } from "./follow-plan.js";
import { type ExpansionReading, planExpansion } from "./plan-expansion.js";
import { planReplay } from "./plan.js";
import type { Replay } from "./replay-result.js";

/** What `replay` may change, whatever the rule. */
export interface TreeReplayChanges extends Omit<ReplayChanges, "rule">, ExpansionReading {
  /** Default: the tree's own. */
  rule?: ReplayChanges["rule"] | ExpansionRule | AnyRule;
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

/** A rule that decides after calls; throws where a tree's own rule is known to its maker alone. */
function branchRuleOf(rule: string | AnyRule): BranchRule {
  if (typeof rule === "string" && attemptRuleNamed(rule)) return rule as BranchRule;
  throw new TypeError(
    `Cannot replay: rule ${String(rule)} must be given as the definition that the tree was made with, got its name`,
  );
}

/** Replays the branch decisions of a tree under other settings. */
export function replayBranches(tree: RolloutTreeData, changes: TreeReplayChanges): Replay {
  checkOptions("replay", changes, replayRules);
  const { expand, tokenizer, current, attemptsPerTrajectory, ...decided } = changes;
  const own = expansionOf(tree.config);
  const named = changes.rule ?? tree.config.rule;
  const definition = writtenRule(named);
  if (definition) {
    const { name: rule } = definition;
    const was = own?.rule === rule ? settingsBesidesRule(own) : {};
    if (was.signal === "own") delete was.signal;
    const settings = completeSettings("replay", definition, {
      ...was,
      ...expand,
    }) as ExpansionSettings;
    // A function that the rollout was given, or this replay: the tree keeps neither.
    if (
      own?.rule === rule &&
      "signal" in own &&
      own.signal === "own" &&
      expand?.signal === undefined
    )
      Object.assign(settings, { signal: "own" });
    const plan = planExpansion(tree, settings, { tokenizer, current, rule: definition });
    return followExpansion(plan, settings, definition);
  }
  return followPlan(planReplay(tree, attemptsPerTrajectory), {
    ...decided,
    rule: branchRuleOf(named),
  });
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

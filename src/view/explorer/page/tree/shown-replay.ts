import {
  attemptRuleNamed,
  type BranchRule,
  type ExpandOptions,
  type ExpansionSettings,
  isExpansion,
} from "../../../../rollout/rules/registry.js";
import type { RolloutRule } from "../../../../rollout/options.js";
import { followExpansion } from "../../../../rollout/replay/follow-expansion.js";
import { followPlan, type ReplayChanges } from "../../../../rollout/replay/follow-plan.js";
import type {
  Replay,
  ReplayAttempt,
  ReplayPoint,
} from "../../../../rollout/replay/replay-result.js";
import { decideBranch, type BranchSettings } from "../../../../rollout/rules/decide-branch.js";
import { type Chance, decisionOf } from "./decisions.js";
import { pathOf } from "./paths.js";
import type { PageTree } from "./unpack-tree.js";

/** Branches at one place: the node that the place is in or at the end of, and tokens of it before the place. */
interface PlacedPoints {
  node: number;
  offset: number;
  points: ReplayPoint[];
}

/** Where the branches of a rule that looks at what was written lie in the tree. */
function placedPoints(tree: PageTree, points: readonly ReplayPoint[]): PlacedPoints[] {
  const found = new Map<string, PlacedPoints>();
  for (const point of points) {
    const path = pathOf(tree, point.trajectory);
    const node =
      path.find((id) => tree.nodes[id]!.depth + tree.nodes[id]!.length >= point.at) ?? path.at(-1);
    if (node === undefined) continue;
    const offset = Math.max(0, point.at - tree.nodes[node]!.depth);
    const key = `${node} ${offset}`;
    const known = found.get(key) ?? { node, offset, points: [] };
    known.points.push(point);
    found.set(key, known);
  }
  return [...found.values()];
}

/** A rule and what the user changed of its settings. */
export interface WhatIf {
  rule: RolloutRule;
  changes: Omit<ReplayChanges, "rule">;
  expand: ExpandOptions;
}

/** A branch that other settings would make and the tree does not have. */
export interface Ghost {
  /** The node it would start in or after, and tokens of it before that. */
  node: number;
  offset: number;
  trajectory: number;
  /** Tokens of the response before it. */
  at: number;
}

/** What the chosen settings would have done, as the drawing and the panel need it. */
export interface ShownReplay {
  /** Whether the settings are other than the rollout's own. */
  changed: boolean;
  /** Whether decisions may be: by other settings, or under another policy. */
  decidesAnew: boolean;
  replay: Replay;
  /** Attempts and chosen places of each node. */
  attempts: Map<number, ReplayAttempt[]>;
  chosen: Map<number, ReplayPoint[]>;
  /** Of each node the chance of its branch, or of its first attempt, where a draw decided. */
  chances: Map<number, Chance>;
  ghosts: Ghost[];
  missing: Set<number>;
}

/** The rollout's own rule, with nothing changed. */
export const ownSettings = (tree: PageTree): WhatIf => ({
  rule: tree.rule,
  changes: {},
  expand: {},
});

/** Whether something is other than when the tree was made. */
function isChanged(tree: PageTree, { rule, changes, expand }: WhatIf): boolean {
  if (rule !== tree.rule) return true;
  const own: WhatIf["changes"] = tree.plan.settings;
  const placed: ExpandOptions = isExpansion(rule) ? (tree.expansions[rule]?.settings ?? {}) : {};
  const differs = <T extends object>(of: T, was: Partial<T>) =>
    Object.entries(of).some(([key, value]) => value !== was[key as keyof T]);
  return isExpansion(rule) ? differs(expand, placed) : differs(changes, own);
}

/** The plan had another policy written the same: `decided` has entropy and baseline of every step. */
function planUnder({ plan }: PageTree, decided: readonly number[]): PageTree["plan"] {
  const steps = plan.steps.map((step, i) => {
    const [entropy, baseline] = [decided[2 * i]!, decided[2 * i + 1]!];
    return { ...step, attempts: step.attempts.map((one) => ({ ...one, entropy, baseline })) };
  });
  return { ...plan, steps };
}

/** The decisions that were made, each as another policy would have made it with the same draw. */
function decidedUnder(replay: Replay, { steps }: PageTree["plan"]): Replay {
  const settings = replay.settings as BranchSettings;
  const attempts = replay.attempts.map((made) => {
    const step = steps.find((one) => one.node === made.node && one.trajectory === made.trajectory);
    const now = step?.attempts[made.attempt];
    if (!now) return made;
    const situation = { ...made, entropy: now.entropy, baseline: now.baseline };
    return { ...situation, ...decideBranch(settings, situation) };
  });
  return { ...replay, attempts };
}

/** Decides every branch anew: by other settings, and under another policy where `decided` says what it is decided by. */
export function replayOf(
  tree: PageTree,
  whatIf: WhatIf,
  decided: readonly number[] = [],
): ShownReplay {
  const changed = isChanged(tree, whatIf);
  const plan = decided.length > 0 ? planUnder(tree, decided) : tree.plan;
  const own = decide(changed ? { ...tree, plan } : tree, whatIf);
  const replay = changed || plan === tree.plan ? own : decidedUnder(own, plan);
  const attempts = new Map<number, ReplayAttempt[]>();
  for (const attempt of replay.attempts) {
    // What was not tried then is no decision of this tree.
    if (!changed && attempt.was === undefined) continue;
    push(attempts, attempt.node, attempt);
  }
  const chosen = new Map<number, ReplayPoint[]>();
  const ghosts: Ghost[] = [];
  for (const { node, offset, points } of placedPoints(tree, replay.points)) {
    for (const point of points) {
      if (replay.attempts.length === 0) push(chosen, node, point);
      const { trajectory, at, child } = point;
      if (changed && child === undefined) ghosts.push({ node, offset, trajectory, at });
    }
  }
  const missing = new Set(changed ? replay.missing : []);
  const chances = new Map<number, Chance>();
  for (const [node, own] of attempts) {
    const shown = own.find(({ branch }) => branch) ?? own[0]!;
    const { chance } = decisionOf(shown, replay.settings as BranchSettings);
    if (chance) chances.set(node, chance);
  }
  const decidesAnew = changed || plan !== tree.plan;
  return { changed, decidesAnew, replay, attempts, chosen, chances, ghosts, missing };
}

function push<T>(lists: Map<number, T[]>, key: number, value: T): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

function decide({ plan, expansions }: PageTree, { rule, changes, expand }: WhatIf): Replay {
  if (attemptRuleNamed(rule)) return followPlan(plan, { ...changes, rule: rule as BranchRule });
  const chosen = isExpansion(rule) ? expansions[rule] : undefined;
  // A rule that the page does not know, or a tree without what it ranks by: nothing is decided anew.
  if (!chosen) return { ...followPlan(plan, { rule: "arpo-code", probability: -1 }), attempts: [] };
  return followExpansion(chosen, { ...chosen.settings, ...expand } as ExpansionSettings);
}

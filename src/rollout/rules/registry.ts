import type { ValuesOf } from "../../../common/options/setting.js";
import type { RankingSignal, TokenRanking } from "../branch/family/signals.js";
import type { Expansion } from "../settings.js";
import { appo } from "./appo.js";
import { appoRollout } from "./appo-rollout.js";
import { at2po } from "./at2po.js";
import type { RuleDefinition } from "./definition.js";
import { fr3e } from "./fr3e.js";
import { redraw } from "./redraw.js";
import { spoTree } from "./spo-tree.js";
import { treeGrpo } from "./tree-grpo.js";
import { treepo } from "./treepo.js";
import { treerl } from "./treerl.js";

/**
 * The rules that look at what has been written and choose where the tree continues from. A new rule is a
 * definition and its line here.
 */
export const ruleDefinitions = [
  treeGrpo,
  at2po,
  treerl,
  appo,
  appoRollout,
  fr3e,
  treepo,
  spoTree,
  redraw,
] as const;

type Known = (typeof ruleDefinitions)[number];

/** The name of a rule that looks at what has been written. */
export type ExpansionRule = Known["name"];

/** The settings of a rule of that name. */
type SettingsOf<R extends ExpansionRule> = { rule: R } & ValuesOf<
  Extract<Known, { name: R }>["settings"]
>;

/** What a rule that looks at what was written is set to, complete. */
export type ExpansionSettings = { [R in ExpansionRule]: SettingsOf<R> }[ExpansionRule];

type Every<T> = T extends unknown ? keyof T : never;
type ValueOf<T, K extends PropertyKey> = T extends Record<K, infer V> ? V : never;

/** What may be set of such a rule; each takes what it has, and the published value of what is left out. */
export type ExpandOptions = {
  [K in Exclude<Every<ExpansionSettings>, "rule">]?: K extends "signal"
    ? RankingSignal | TokenRanking
    : ValueOf<ExpansionSettings, K>;
};

const byName = new Map<string, RuleDefinition>(ruleDefinitions.map((rule) => [rule.name, rule]));

/** The rules that look at what has been written, by name. */
export const expansionRules: readonly ExpansionRule[] = ruleDefinitions.map(({ name }) => name);

/** Whether a rule is one of them. */
export const isExpansion = (rule: string): rule is ExpansionRule => byName.has(rule);

/** The definition of a rule by its name; throws where there is none, as of a rule that was given itself. */
export function ruleNamed(name: string): RuleDefinition {
  const rule = byName.get(name);
  if (!rule) throw new TypeError(`Cannot find rule ${name}: it was given as a definition`);
  return rule;
}

/** The rule that a tree's settings are of. */
export const definitionOf = ({ rule }: Expansion): RuleDefinition => ruleNamed(rule);

/** The rule that looks at what was written, where an option names or is one. */
export function writtenRule(rule: string | RuleDefinition | undefined): RuleDefinition | undefined {
  return typeof rule === "object" ? rule : byName.get(rule ?? "");
}

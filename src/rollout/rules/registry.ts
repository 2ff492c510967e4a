import { Registry } from "../../../common/options/registry.js";
import type { ValuesOf } from "../../../common/options/setting.js";
import type { RankingSignal, TokenRanking } from "../branch/family/signals.js";
import type { Expansion } from "../settings.js";
import { aepoCode } from "./aepo-code.js";
import { aepoPaper } from "./aepo-paper.js";
import { appo } from "./appo.js";
import { appoRollout } from "./appo-rollout.js";
import { arpoCode } from "./arpo-code.js";
import { arpoPaper } from "./arpo-paper.js";
import { at2po } from "./at2po.js";
import type { AttemptDefinition } from "./attempt.js";
import { branpo } from "./branpo.js";
import type { RuleDefinition } from "./definition.js";
import { fr3e } from "./fr3e.js";
import { redraw } from "./redraw.js";
import { seedDocs } from "./seed-docs.js";
import { slips } from "../branch/slips.js";
import { spoTree } from "./spo-tree.js";
import { treeGrpo } from "./tree-grpo.js";
import { treepo } from "./treepo.js";
import { treerl } from "./treerl.js";

/** The rules that decide after calls, by the source each was taken from. */
const attemptDefinitions = [arpoCode, arpoPaper, seedDocs, aepoCode, aepoPaper] as const;

/** @see {@link decideBranch} for what each rule computes. */
export type BranchRule = (typeof attemptDefinitions)[number]["name"];

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
  branpo,
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

type NamesOf<L extends readonly { name: string }[]> = { readonly [I in keyof L]: L[I]["name"] };

/** A rule of either shape. */
export type AnyRule = AttemptDefinition | RuleDefinition;

/**
 * Every branching rule by name. One of a person's own that is added here can be named wherever the library's can.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rules } from "arpo-lab/experimental/family";
 *
 * assert.ok(rules.has("arpo-code") && rules.has("treepo"));
 * ```
 */
export const rules = new Registry<AnyRule, BranchRule | ExpansionRule>(
  "rule",
  [...attemptDefinitions, ...ruleDefinitions],
  ["decide", "choose", "segments"],
);

for (const { slips: own = [] } of ruleDefinitions as readonly RuleDefinition[])
  for (const slip of own) slips.add(slip);

const isWritten = (rule: AnyRule): rule is RuleDefinition => !("decide" in rule);

/** The library's rules that decide after calls, by name. */
export const branchRules = attemptDefinitions.map(({ name }) => name) as unknown as NamesOf<
  typeof attemptDefinitions
>;

/** The library's rules that look at what has been written, by name. */
export const expansionRules: readonly ExpansionRule[] = ruleDefinitions.map(({ name }) => name);

/** The names of one shape's rules, those that were added too. */
const namesOf = (isOne: (rule: AnyRule) => boolean) => (): string[] =>
  rules.names.filter((name) => isOne(rules.get(name)!));
export const attemptRules = namesOf((rule) => !isWritten(rule)) as () => BranchRule[];
export const writtenRules = namesOf(isWritten) as () => ExpansionRule[];

/** The rule that an option names or is, where it decides after calls. */
export function attemptRuleNamed(name: string): AttemptDefinition | undefined {
  const rule = rules.get(name);
  return rule && !isWritten(rule) ? rule : undefined;
}

/** The rule that looks at what was written, where an option names or is one. */
export function writtenRule(rule: string | AnyRule | undefined): RuleDefinition | undefined {
  const found = typeof rule === "object" ? rule : rules.get(rule ?? "");
  return found && isWritten(found) ? found : undefined;
}

/** Whether a rule is one that looks at what was written. */
export const isExpansion = (rule: string): rule is ExpansionRule => writtenRule(rule) !== undefined;

/** The definition of such a rule by its name; throws where there is none, as of a rule that was given itself. */
export function ruleNamed(name: string): RuleDefinition {
  const rule = writtenRule(name);
  if (!rule) throw new TypeError(`Cannot find rule ${name}: it was given as a definition`);
  return rule;
}

/** The rule that a tree's settings are of. */
export const definitionOf = ({ rule }: Expansion): RuleDefinition => ruleNamed(rule);

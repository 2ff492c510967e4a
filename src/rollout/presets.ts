import { valuesOf } from "../../common/options/setting.js";
import type { Sampling } from "../policy/policy.js";
import { aepoCode } from "./rules/aepo-code.js";
import { arpoCode } from "./rules/arpo-code.js";
import { type ExpansionRule, ruleDefinitions } from "./rules/registry.js";

type Known = (typeof ruleDefinitions)[number];

/** An algorithm whose rule looks at what was written. */
export type FamilyPreset = Extract<Known, { preset: object }>["name"];

/** An algorithm whose published settings `preset` stands for. */
export type PresetName = "grpo" | "arpo" | "aepo" | FamilyPreset;

/** What the preset of a rule says of a rollout. */
interface RulePreset {
  rule: ExpansionRule;
  n: number;
  initialRollouts: number;
  sampling?: Sampling;
  responseLength?: number;
}

const ofRules = Object.fromEntries(
  ruleDefinitions.flatMap((definition) => {
    const { name: rule, preset, settings, usual } = definition;
    if (preset === undefined) return [];
    const trajectories = { ...usual, ...definition.trajectories?.(valuesOf(settings) as never) };
    const { n, initialRollouts } = trajectories;
    return [[rule, { rule, n, initialRollouts, ...(preset === "rule-only" ? {} : preset) }]];
  }),
) as Record<Extract<Known, { preset: object | "rule-only" }>["name"], RulePreset>;

/**
 * The published settings of a rollout: those of the ARPO reasoning script, what GRPO and AEPO change in
 * them, and those of the methods around ARPO, as their rules say.
 */
export const rolloutPresets = {
  /** n independent trajectories, no branching. */
  grpo: { n: 16, initialRollouts: 16, beamSize: 1, callLimit: 3 },
  arpo: { rule: arpoCode.name, ...arpoCode.preset },
  aepo: { rule: aepoCode.name, ...aepoCode.preset },
  ...ofRules,
} as const;

/** The algorithms whose rules look at what was written. */
export const familyPresets = ruleDefinitions.flatMap(({ name, preset }) =>
  typeof preset === "object" ? [name as FamilyPreset] : [],
);

/** Those of an algorithm. */
export const algorithmPresets: Readonly<Record<string, object>> = Object.fromEntries(
  (["grpo", "arpo", "aepo", ...familyPresets] as const).map((name) => [name, rolloutPresets[name]]),
);

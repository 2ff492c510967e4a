import { named, shown } from "../../common/options/check-arguments.js";
import { checkOptions } from "../../common/options/check-options.js";
import { defined } from "../../common/options/defined.js";
import { completed } from "../../common/options/option-table.js";
import { factsOf } from "./branch/family/signals.js";
import { algorithmPresets } from "./presets.js";
import { toolSetOf } from "../tools/tool-set.js";
import { completeSettings, settingsBesidesRule } from "./rules/settings.js";
import type { RuleDefinition } from "./rules/definition.js";
import { rules, writtenRule, writtenRules } from "./rules/registry.js";
import { type ReadyOptions, type RolloutOptions, rolloutRules } from "./options.js";
import { type RolloutConfig, rolloutSettings } from "./settings.js";

/** Lays options over the preset they name, and makes a set of a list of tools. */
export function readyOptions(action: string, given: RolloutOptions): ReadyOptions {
  checkOptions(action, given, rolloutRules);
  const { preset, tools, ...own } = given;
  const below: ReadyOptions =
    preset === undefined ? {} : scaled(named(action, "preset", preset, algorithmPresets), own);
  return {
    ...below,
    ...defined(own),
    ...(tools === undefined ? {} : { tools: toolSetOf(action, tools) }),
  };
}

/** A preset's settings for another `n`: a tree starts with the same share of its trajectories. */
function scaled(preset: ReadyOptions, { n }: RolloutOptions): ReadyOptions {
  const { n: usual, initialRollouts, rule } = preset;
  if (writtenRule(rule) || !usual || !initialRollouts || !Number.isSafeInteger(n)) return preset;
  return { ...preset, initialRollouts: Math.max(1, Math.ceil((n! * initialRollouts) / usual)) };
}

/** Completes options with the defaults and refuses what makes no sense. */
export function rolloutConfig(given: RolloutOptions): RolloutConfig {
  const options = readyOptions("roll out", given);
  checkExpansion(options);
  const { rule = "arpo-code", beamSize = 1, mode, scheduling = "prompt" } = options;
  const validate = mode === "validate";
  const written = writtenRule(rule);
  const expansion = written && completeSettings("roll out", written, options.expand);
  const { n, initialRollouts } = trajectoriesOf(options, validate ? undefined : written);
  if (options.compat?.keepBaselines && scheduling !== "lockstep") {
    throw new RangeError(
      `Cannot roll out: keepBaselines numbers trajectories across the batch and needs scheduling "lockstep", got "${scheduling}"`,
    );
  }
  return {
    ...completed(rolloutSettings, options, {
      n: validate ? 1 : n,
      initialRollouts: validate ? 1 : initialRollouts,
      beamSize: validate ? 1 : beamSize,
      attemptsPerTrajectory:
        validate || expansion ? 0 : (options.attemptsPerTrajectory ?? beamSize - 1),
      callLimit: callsOf(options),
    }),
    rule: expansion && validate ? "arpo-code" : knownName(rule),
    ...(expansion && !validate && { expand: settingsBesidesRule(expansion) }),
    tools: options.tools?.tags ?? [],
  };
}

/** Acting in a world takes more calls than asking for something. */
const environmentCalls = 16;

const callsOf = ({ callLimit, tools, environment }: ReadyOptions) =>
  callLimit ?? tools?.callLimit ?? (environment ? environmentCalls : 0);

/** Trajectories per prompt, and how many it starts with. */
function trajectoriesOf(options: ReadyOptions, rule: RuleDefinition | undefined) {
  if (!rule) {
    const n = options.n ?? 1;
    // As the reference: a budget of n trajectories starts with no more than n.
    const first = options.initialRollouts ?? n;
    return { n, initialRollouts: Math.min(n, first) };
  }
  const { usual } = rule;
  const fixed = rule.trajectories?.(completeSettings("roll out", rule, options.expand)) ?? {};
  const of = (name: "n" | "initialRollouts") => {
    const given = options[name];
    const value = fixed[name];
    if (given !== undefined && value !== undefined && given !== value && name === "n") {
      throw new RangeError(
        `Cannot roll out: n follows from the settings of rule ${rule.name} and must be ${value} or left out, got ${shown(given)}`,
      );
    }
    return value ?? given ?? usual?.[name] ?? 1;
  };
  const n = of("n");
  return { n, initialRollouts: Math.min(n, of("initialRollouts")) };
}

/** A rule that decides after calls is asked by its name, long after it was given: it is known from here on. */
const knownName = (rule: NonNullable<ReadyOptions["rule"]>): string => {
  if (typeof rule !== "object") return rule;
  return "decide" in rule ? rules.nameOf(rule) : rule.name;
};

/** What a rule is set to; throws where it is no setting of it, or the rule has none. */
export function checkExpand(
  action: string,
  { rule, expand }: Pick<ReadyOptions, "rule" | "expand">,
): void {
  const written = writtenRule(rule);
  if (written) completeSettings(action, written, expand);
  else if (expand !== undefined) {
    const { rule: meant } = expand as { rule?: unknown };
    const hint = meant === undefined ? "" : `; write rule: ${JSON.stringify(meant)} beside expand`;
    throw new RangeError(
      `Cannot ${action}: expand is for the rules ${writtenRules().join(", ")}, got ${nameIn(rule) ?? "arpo-code"}${hint}`,
    );
  }
}

const nameIn = (rule: ReadyOptions["rule"]) => (typeof rule === "object" ? rule.name : rule);

/** Throws where a rule that looks at what has been written cannot do so. */
function checkExpansion(options: ReadyOptions): void {
  const { rule: given, expand } = options;
  const written = writtenRule(given);
  if (!written || options.mode !== "validate") checkExpand("roll out", options);
  if (!written) return;
  if (options.mode === "validate") return;
  const { name: rule, judge } = written;
  if (options.scheduling === "lockstep") {
    throw new RangeError(
      `Cannot roll out: rule ${rule} needs scheduling "prompt", got "${options.scheduling}"`,
    );
  }
  if (options.dynamicRollouts) {
    throw new RangeError(
      `Cannot roll out: dynamicRollouts is for AEPO's rules, got it with rule ${rule}`,
    );
  }
  const { signal } = completeSettings("roll out", written, expand) as { signal?: string };
  if (options.keepTop === false && factsOf(signal ?? "").needsTop) {
    throw new RangeError(
      `Cannot roll out: signal ${signal} is made of the alternatives that keepTop keeps, got keepTop false`,
    );
  }
  if (signal === "group-mixed" && !options.judge) {
    throw new TypeError(
      "Cannot roll out: expand.signal group-mixed depends on the outcomes of the first rollouts and needs a judge, got none",
    );
  }
  if (judge !== undefined && !options.judge) {
    throw new TypeError(`Cannot roll out: rule ${rule} ${judge} and needs a judge, got none`);
  }
}

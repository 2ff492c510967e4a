import { checkOptions } from "../../../common/options/check-options.js";
import {
  type Advice,
  rulesOf,
  type RunFacts,
  type Setting,
  valuesOf,
} from "../../../common/options/setting.js";
import {
  branchSignals,
  branchSignalWords,
  type RankingSignal,
  type TokenRanking,
} from "../branch/family/signals.js";
import type { Expansion } from "../settings.js";
import type { RuleDefinition } from "./definition.js";

/** Every signal that a rule may have. */
export const rankingSignals = [...branchSignals, "random", "group-mixed"] as const;

/** What places are ranked by; `group-mixed` is for a rule that draws first trajectories anew. */
export function signal(
  value: RankingSignal,
  names: readonly RankingSignal[] = [...branchSignals, "random"],
): Setting<RankingSignal> {
  return {
    value,
    says: "What places are ranked by; random: each alike; group-mixed: redraw alone, by the first trajectories' outcomes",
    kind: { of: "names", names: rankingSignals },
    rule: {
      must: `one of ${names.join(", ")}, or a function of a token`,
      holds: (v) => typeof v === "function" || (names as readonly unknown[]).includes(v),
    },
  };
}

export const signalWords = {
  ...branchSignalWords,
  random: "a number drawn at random",
  own: "a function of its own",
  "group-mixed": "expected variance per token left",
} as const;

/** Whether the first trajectories leave anything of the budget. */
export const nothingLeft = ({ rule, n, initialRollouts: first }: RunFacts): Advice[] =>
  first < n
    ? []
    : [
        {
          id: "no-budget",
          status: "warning",
          found: `initial_rollouts is ${first} and n is ${n}: the whole budget is spent at the start and ${rule} leaves no trajectory`,
          fix: `actor_rollout_ref.rollout.initial_rollouts=${Math.max(1, Math.floor(n / 2))}`,
        },
      ];

export const short = (value: number): string => String(Number(value.toPrecision(4)));

/** The published settings of a rule. */
export const published = (rule: RuleDefinition): Expansion => ({
  rule: rule.name,
  ...valuesOf(rule.settings),
});

/** A rule's settings: what was given, and the published value of everything else. */
export function completeSettings(
  action: string,
  rule: RuleDefinition,
  given: Readonly<Record<string, unknown>> & { signal?: RankingSignal | TokenRanking } = {},
): Expansion {
  checkOptions(action, given, rulesOf(rule.settings), "expand.");
  const set = Object.fromEntries(
    Object.entries(given).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, typeof value === "function" ? "own" : value] as const],
    ),
  );
  const settings = { ...published(rule), ...set };
  const fault = rule.fault?.(settings);
  if (fault !== undefined) throw new RangeError(`Cannot ${action}: ${fault}`);
  return settings;
}

/** What of a rule's settings may be set. */
export const settingsBesidesRule = (settings: Expansion): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).filter(([key]) => key !== "rule"));

/** Rounds of choosing: more than one only where a rule has them. */
export const roundsOf = ({ rounds = 1 }: Expansion): number => rounds as number;

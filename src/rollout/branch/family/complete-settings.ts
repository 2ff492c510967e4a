import {
  checkOptions,
  finite,
  integer,
  oneOf,
  type OptionRules,
  positive,
} from "../../../../arguments/check-options.js";
import {
  branchSignals,
  publishedExpansion,
  type ExpandOptions,
  type ExpansionRule,
  type ExpansionSettings,
} from "./settings.js";
import { treepoAllocations } from "./treepo.js";

const counts = (v: unknown): v is number[] =>
  Array.isArray(v) && v.every((x) => Number.isSafeInteger(x) && x >= 1);

const signalRule = (names: readonly string[]) => ({
  must: `one of ${names.join(", ")}, or a function of a token`,
  holds: (v: unknown) => typeof v === "function" || (names as readonly unknown[]).includes(v),
});

const rules: OptionRules<ExpandOptions> = {
  trees: integer(1),
  rounds: integer(0),
  points: integer(1),
  rows: integer(1),
  keep: integer(1),
  right: integer(0),
  wrong: integer(0),
  upsampling: integer(0),
  maxLength: integer(1),
  segment: integer(1),
  depth: integer(1),
  divergence: integer(1),
  penalty: finite,
  gamma: finite,
  clip: finite,
  temperature: positive,
  signal: signalRule([...branchSignals, "random"]),
  allocation: oneOf(treepoAllocations),
  first: {
    must: "two integers of at least 1, the first not above the second",
    holds: (v) => counts(v) && v.length === 2 && v[0]! <= v[1]!,
  },
  factors: { must: "a list of integers of at least 1", holds: (v) => counts(v) && v.length > 0 },
};

/** A rule's settings: what was given, and the published value of everything else. */
export function completeSettings(
  action: string,
  rule: ExpansionRule,
  given: ExpandOptions = {},
): ExpansionSettings {
  const published = publishedExpansion[rule];
  const own = Object.keys(published).flatMap((key) =>
    key === "rule" ? [] : [[key, rules[key as keyof ExpandOptions]] as const],
  );
  const known = {
    ...(Object.fromEntries(own) as typeof rules),
    ...(rule === "redraw" && { signal: signalRule([...branchSignals, "random", "group-mixed"]) }),
  };
  checkOptions(action, given, known, "expand.");
  const set = Object.fromEntries(
    Object.entries(given).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, typeof value === "function" ? "own" : value] as const],
    ),
  );
  // Each key was checked against the rule's own; the union cannot be narrowed by a variable.
  const settings = { ...published, ...set } as ExpansionSettings;
  checkTogether(action, settings);
  return settings;
}

/** What several settings must say together. */
function checkTogether(action: string, settings: ExpansionSettings): void {
  if (settings.rule === "tree-grpo") {
    const { keep, rounds, points } = settings;
    const leaves = 1 + rounds * points;
    if (keep > leaves) {
      throw new RangeError(
        `Cannot ${action}: expand.keep must be at most the ${leaves} leaves that a tree gets, got ${keep}`,
      );
    }
  }
  if (settings.rule === "fr3e" && settings.right + settings.wrong === 0) {
    throw new RangeError(
      `Cannot ${action}: expand.right and expand.wrong must not both be 0, got 0 and 0`,
    );
  }
}

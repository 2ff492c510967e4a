import { shown } from "../../../arguments/shown.js";
import {
  branchSignals,
  publishedExpansion,
  type ExpandOptions,
  type ExpansionRule,
  type ExpansionSettings,
} from "./settings.js";
import { treepoAllocations } from "./treepo.js";

type Check = readonly [must: string, fits: (value: unknown) => boolean];

const atLeast = (least: number): Check => [
  `an integer of at least ${least}`,
  (v) => Number.isSafeInteger(v) && (v as number) >= least,
];
const finite: Check = ["a finite number", (v) => Number.isFinite(v)];
const positive: Check = ["a number above 0", (v) => Number.isFinite(v) && (v as number) > 0];
const oneOf = (names: readonly string[]): Check => [
  `one of ${names.join(", ")}`,
  (v) => names.includes(v as string),
];
const counts = (v: unknown): v is number[] =>
  Array.isArray(v) && v.every((x) => Number.isSafeInteger(x) && x >= 1);

const checks: Record<keyof ExpandOptions, Check> = {
  trees: atLeast(1),
  rounds: atLeast(0),
  points: atLeast(1),
  rows: atLeast(1),
  keep: atLeast(1),
  right: atLeast(0),
  wrong: atLeast(0),
  upsampling: atLeast(0),
  maxLength: atLeast(1),
  segment: atLeast(1),
  depth: atLeast(1),
  divergence: atLeast(1),
  penalty: finite,
  gamma: finite,
  clip: finite,
  temperature: positive,
  signal: oneOf([...branchSignals, "random"]),
  allocation: oneOf(treepoAllocations),
  first: [
    "two integers of at least 1, the first not above the second",
    (v) => counts(v) && v.length === 2 && v[0]! <= v[1]!,
  ],
  factors: ["a list of integers of at least 1", (v) => counts(v) && v.length > 0],
};

/** A rule's settings: what was given, and the published value of everything else. */
export function completeSettings(
  action: string,
  rule: ExpansionRule,
  given: ExpandOptions = {},
): ExpansionSettings {
  const published = publishedExpansion[rule];
  const known = Object.keys(published).filter((key) => key !== "rule");
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!known.includes(key)) {
      throw new RangeError(
        `Cannot ${action}: rule ${rule} has ${known.join(", ")} to set, got ${key}`,
      );
    }
    const [must, fits] = checks[key as keyof ExpandOptions];
    if (!fits(value) || (key === "signal" && value === "random" && rule !== "at2po")) {
      throw new RangeError(`Cannot ${action}: expand.${key} must be ${must}, got ${shown(value)}`);
    }
  }
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
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

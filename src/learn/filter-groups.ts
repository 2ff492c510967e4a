import { checkArguments } from "../../common/options/check-arguments.js";
import {
  checkOptions,
  integer,
  integerOrAll,
  oneOf,
  type OptionRules,
} from "../../common/options/check-options.js";
import { byGroup } from "./estimators/base/estimator.js";

/** What is left of a generated batch. */
export interface FilteredGroups {
  /** The sequences that are kept, in the order of the batch. */
  rows: number[];
  /** Their groups, in the order they first appear. */
  groups: (string | number)[];
  /** Groups without any difference to learn from. */
  dropped: number;
  /** Groups with a difference that did not fit into the batch. */
  surplus: number;
  /** Groups the batch has now, those of before included. */
  filled: number;
}

/** How groups are filtered. */
export interface FilterOptions {
  /** Groups the batch has already. Default: 0. */
  before?: number;
  /** Groups the batch is to have; what is more is dropped from the end. Default: no limit. */
  size?: number;
  /**
   * When a group has nothing to learn from: its values are equal (`equal`, the default), or their
   * deviation in floating point is exactly 0 (`deviation`, the reference), which three times 0.1 is not.
   */
  test?: "equal" | "deviation";
}

const rules: OptionRules<FilterOptions> = {
  before: integer(0),
  size: integerOrAll(0),
  test: oneOf(["equal", "deviation"]),
};

/** Summed as numpy does, in eight lanes: the reference's test is on what rounding leaves. */
function sum(values: readonly number[]): number {
  if (values.length > 128) {
    const half = Math.floor(values.length / 2);
    const cut = half - (half % 8);
    return sum(values.slice(0, cut)) + sum(values.slice(cut));
  }
  const whole = values.length < 8 ? 0 : values.length - (values.length % 8);
  const lane = (k: number) => {
    let total = values[k]!;
    for (let i = k + 8; i < whole; i += 8) total += values[i]!;
    return total;
  };
  let total = 0;
  if (whole > 0) {
    const [a, b, c, d, e, f, g, h] = [0, 1, 2, 3, 4, 5, 6, 7].map(lane) as [
      ...[number, number, number, number],
      ...[number, number, number, number],
    ];
    total = a + b + (c + d) + (e + f + (g + h));
  }
  for (let i = whole; i < values.length; i++) total += values[i]!;
  return total;
}

/** Population deviation, squared. */
function variance(values: readonly number[]): number {
  const mean = sum(values) / values.length;
  return sum(values.map((v) => (v - mean) ** 2)) / values.length;
}

/** Whether a group's sequences say nothing apart. A group of one is compared with nothing and stays. */
function uniform(values: readonly number[], test: FilterOptions["test"]): boolean {
  if (values.length < 2) return false;
  return test === "deviation" ? variance(values) === 0 : values.every((v) => v === values[0]);
}

/**
 * DAPO's group filter: the prompts of a generated batch whose sequences differ in a metric, as many as the
 * batch has room for. Prompts whose sequences are all the same have no advantage and no gradient.
 *
 * @param input the group and the metric of every sequence
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { filterGroups } from "arpo-lab/learn";
 *
 * const found = filterGroups({ groups: ["a", "a", "b", "b"], metric: [1, 1, 0, 1] }, { size: 2 });
 * assert.deepEqual([found.rows, found.dropped, found.filled], [[2, 3], 1, 1]);
 * ```
 */
export function filterGroups(
  input: { groups: readonly (string | number)[]; metric: readonly number[] },
  options: FilterOptions = {},
): FilteredGroups {
  checkArguments("filter groups", { input }, { input: { groups: "list", metric: "list" } });
  checkOptions("filter groups", options, rules);
  const { groups, metric } = input;
  const { before = 0, size = Infinity, test = "equal" } = options;
  if (metric.length !== groups.length) {
    throw new RangeError(
      `Cannot filter groups: there must be a metric for each of ${groups.length} trajectories, got ${metric.length}`,
    );
  }
  const all = byGroup(groups);
  const informative = all.filter(
    (sequences) =>
      !uniform(
        sequences.map((i) => metric[i]!),
        test,
      ),
  );
  const kept = informative.slice(0, Math.max(0, size - before));
  return {
    rows: kept.flat().sort((a, b) => a - b),
    groups: kept.map(([first]) => groups[first!]!),
    dropped: all.length - informative.length,
    surplus: informative.length - kept.length,
    filled: Math.min(before + informative.length, size),
  };
}

import {
  finite,
  integer,
  notNegative,
  oneOf,
  type OptionRule,
  positive as above0,
  share as fromTo1,
} from "./check-options.js";
import { kinds } from "./check-arguments.js";

/** What a configuration's schema is to be made of. */
export type SettingKind =
  | { of: "flag" }
  | { of: "count"; least: number; most?: number }
  | { of: "number"; least?: number; above?: number; most?: number }
  | { of: "names"; names: readonly string[] }
  | { of: "counts"; length?: number };

/** One setting of a choice, stated once: its published value, what it may be, and what help says of it. */
export interface Setting<T> {
  /** Null where it is left open. */
  readonly value: T | null;
  readonly rule: OptionRule;
  readonly says: string;
  readonly kind: SettingKind;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- settings of every type stand in one table
export type SettingTable = Readonly<Record<string, Setting<any>>>;

/** The values that a table of settings stands for. */
export type ValuesOf<T extends SettingTable> = {
  -readonly [K in keyof T]: T[K] extends Setting<infer V> ? V : never;
};

export const flag = (value: boolean, says: string): Setting<boolean> => ({
  ...{ value, says, kind: { of: "flag" } },
  rule: { must: kinds.boolean[0], holds: kinds.boolean[1] },
});

export const count = (value: number, says: string, least = 1): Setting<number> => ({
  ...{ value, says, kind: { of: "count", least } },
  rule: integer(least),
});

/** A count that nothing bounds where it is left out. */
export const countOrAll = (says: string): Setting<number> => ({
  ...{ value: null, says, kind: { of: "count", least: 1, most: 1e9 } },
  rule: integer(1),
});

export const figure = (value: number, says: string): Setting<number> => ({
  ...{ value, says, kind: { of: "number" } },
  rule: finite,
});

export const positive = (value: number, says: string): Setting<number> => ({
  ...{ value, says, kind: { of: "number" } },
  rule: above0,
});

/** 0 or more. */
export const weight = (value: number, says: string, rule = notNegative): Setting<number> => ({
  ...{ value, says, kind: { of: "number", least: 0 } },
  rule,
});

export const share = (value: number, says: string, rule = fromTo1): Setting<number> => ({
  ...{ value, says, kind: { of: "number", least: 0, most: 1 } },
  rule,
});

/** Above a number and up to another, or nothing. */
export const aboveOrNone = (above: number, most: number, says: string): Setting<number> => ({
  ...{ value: null, says, kind: { of: "number", above, most } },
  rule: fromTo1,
});

export const choice = <const N extends string>(
  names: readonly N[],
  value: NoInfer<N>,
  says: string,
): Setting<N> => ({
  ...{ value, says, kind: { of: "names", names } },
  rule: oneOf(names),
});

const areCounts = (v: unknown): v is number[] =>
  Array.isArray(v) && v.every((x) => Number.isSafeInteger(x) && x >= 1);

export const counts = (value: number[], says: string): Setting<number[]> => ({
  ...{ value, says, kind: { of: "counts" } },
  rule: {
    must: "a list of integers of at least 1",
    holds: (v) => areCounts(v) && v.length > 0,
  },
});

/** From so many to so many. */
export const range = (
  value: [least: number, most: number],
  says: string,
): Setting<[least: number, most: number]> => ({
  ...{ value, says, kind: { of: "counts", length: 2 } },
  rule: {
    must: "two integers of at least 1, the first not above the second",
    holds: (v) => areCounts(v) && v.length === 2 && v[0]! <= v[1]!,
  },
});

/**
 * What a definition states its settings with: `settings: { times: setting.count(2, "branches") }`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { setting } from "arpo-lab/experimental/family";
 *
 * assert.equal(setting.count(2, "branches").value, 2);
 * ```
 */
export const setting = {
  ...{ flag, count, countOrAll, figure, positive, weight, share },
  ...{ aboveOrNone, choice, counts, range },
};

/** The published values of a table. */
export const valuesOf = <T extends SettingTable>(table: T): ValuesOf<T> =>
  Object.fromEntries(
    Object.entries(table).map(([name, { value }]) => [name, value as unknown]),
  ) as ValuesOf<T>;

/** What every setting of a table may be. */
export const rulesOf = <T extends SettingTable>(table: T) =>
  Object.fromEntries(Object.entries(table).map(([name, { rule }]) => [name, rule])) as {
    readonly [K in keyof T & string]: OptionRule;
  };

/** What a choice knows of a run that doctor asks it about. */
export interface RunFacts {
  rule: string;
  estimator: string;
  n: number;
  initialRollouts: number;
  responseLength: number;
  /** Of the rules that decide after calls. */
  branchProbability: number;
  /** How the weights that sample are kept; `float32`: as those that train. */
  sampler: string;
  /** Whether any trajectory can leave another one. */
  branches: boolean;
}

/** What doctor says of a run with a choice. */
export interface Advice {
  id: string;
  status: "error" | "warning" | "note";
  found: string;
  fix?: string;
}

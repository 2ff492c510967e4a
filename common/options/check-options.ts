import { nearest } from "./nearest.js";
import {
  type ArgumentKind,
  checkArguments,
  type KindName,
  kinds,
  shown,
} from "./check-arguments.js";

/** What the value of an option must be: the words of the error, and how it is recognised. */
export interface OptionRule<T = unknown> {
  /** What the compiler knows of a value that holds. Nothing at run time. */
  readonly value?: T;
  readonly must: string;
  readonly holds: (value: unknown) => boolean;
  /** What a value that is refused looks like, where `shown` would hide what is wrong with it. */
  readonly got?: (value: unknown) => string;
  /** It is a number, so that another one is out of range and no slip of kind. */
  readonly number?: boolean;
  /** It must be given. */
  readonly required?: boolean;
  /** The texts it is one of. */
  readonly names?: readonly string[];
  /** Where a number must lie, and whether it is whole. */
  readonly range?: {
    readonly least: number;
    readonly most: number;
    readonly whole: boolean;
    /** The least itself is out of it. */
    readonly above?: true;
  };
  /** The rules of its own options, where it is an object with some. */
  readonly fields?: OptionTable;
}

/** A rule, or the kind that a value must be; with `?` it may be left out. A rule's may always be. */
export type OptionCheck = ArgumentKind | OptionRule;

/** What a value is that a check lets pass, as far as the check says. */
export type Passing<C> =
  C extends OptionRule<infer T>
    ? T
    : C extends "boolean" | "boolean?"
      ? boolean
      : C extends `${"text" | "path"}${"" | "?"}`
        ? string
        : C extends `${"number" | "count"}${"" | "?"}`
          ? number
          : C extends `signal${"" | "?"}`
            ? AbortSignal
            : object;

type OptionTable = Readonly<Record<string, OptionCheck>>;

/** A check for every option of a type: an option without one does not compile. */
export type OptionRules<T> = { readonly [K in keyof T & string]-?: OptionCheck };

const numeric = (
  must: string,
  holds: (x: number) => boolean,
  range?: OptionRule["range"],
): OptionRule<number> => ({
  must,
  holds: (value) => typeof value === "number" && holds(value),
  number: true,
  ...(range && { range }),
});

/** An integer of at least `least`, and at most `most`. */
export const integer = (least = 1, most = Infinity): OptionRule<number> =>
  numeric(
    most === Infinity ? `an integer of at least ${least}` : `an integer from ${least} to ${most}`,
    (x) => Number.isSafeInteger(x) && x >= least && x <= most,
    { least, most, whole: true },
  );

/** The same, where Infinity stands for all there are. */
export const integerOrAll = (least = 1): OptionRule<number> =>
  numeric(
    `an integer of at least ${least}, or Infinity`,
    (x) => x === Infinity || (Number.isSafeInteger(x) && x >= least),
  );

export const finite = numeric("a finite number", Number.isFinite);
/** Infinity is a bound that nothing reaches. */
export const anyNumber = numeric("a number", (x) => !Number.isNaN(x));
export const notNegative = numeric("a finite number of at least 0", (x) => x >= 0 && x < Infinity, {
  least: 0,
  most: Infinity,
  whole: false,
});
export const positive = numeric("a finite number above 0", (x) => x > 0 && x < Infinity, {
  ...{ least: 0, most: Infinity, whole: false, above: true },
});
export const above = (least: number): OptionRule<number> =>
  numeric(`a number above ${least}`, (x) => x > least, {
    ...{ least, most: Infinity, whole: false, above: true },
  });
export const fromTo = (least: number, most: number): OptionRule<number> =>
  numeric(
    most === Infinity ? `a number of at least ${least}` : `a number from ${least} to ${most}`,
    (x) => x >= least && x <= most,
    { least, most, whole: false },
  );
/** Timers count in 31 bits: a longer one would fire at once. */
export const milliseconds = numeric("milliseconds below 2^31", (x) => x > 0 && x < 2 ** 31);
export const millisecondsOrNone = numeric("milliseconds below 2^31", (x) => x >= 0 && x < 2 ** 31);
/** A share, a probability. */
export const share = fromTo(0, 1);

/** One of some texts. */
export const oneOf = <const T extends string>(names: readonly T[]): OptionRule<T> => ({
  must: `one of ${names.join(", ")}`,
  holds: (value) => (names as readonly unknown[]).includes(value),
  names,
});

/** An object with options of its own. */
export const optionsOf = <T extends object>(fields: OptionRules<T>): OptionRule<T> => ({
  must: "an object",
  holds: kinds.object[1],
  fields,
});

export const ruleOf = (check: OptionCheck): OptionRule => {
  if (typeof check !== "string") return check;
  const [must, holds] = kinds[(check.endsWith("?") ? check.slice(0, -1) : check) as KindName];
  const isNumber = check.startsWith("number") || check.startsWith("count");
  return { must, holds, number: isNumber, required: !check.endsWith("?") };
};

/** A rule that must be followed: the option may not be left out. */
export const required = <T>(rule: OptionRule<T>): OptionRule<T> => ({ ...rule, required: true });

/** A check of values whose type it does not say itself. */
export const valuesOf = <T>(check: OptionCheck): OptionRule<T> => ruleOf(check) as OptionRule<T>;

/** A list whose items a rule holds for. */
export const listOf = (check: OptionCheck, words: string): OptionRule => {
  const { holds } = ruleOf(check);
  const wrong = (list: unknown) =>
    Array.from(list as ArrayLike<unknown>).filter((one) => !holds(one));
  const isList = kinds.list[1];
  return {
    must: `a list of ${words}`,
    holds: (value) => isList(value) && wrong(value).length === 0,
    got: (value) => (isList(value) ? `${shown(wrong(value)[0])} in it` : shown(value)),
  };
};

export const texts = listOf("text", "texts");

/** Any of some rules: `either("boolean", optionsOf({…}))`. */
export const either = <const C extends readonly OptionCheck[]>(
  ...checks: C
): OptionRule<Passing<C[number]>> => {
  const rules = checks.map(ruleOf);
  const fields = rules.find((rule) => rule.fields)?.fields;
  const names = rules.flatMap((rule) => rule.names ?? []);
  return {
    must: rules.map(({ must }) => must).join(" or "),
    holds: (value) => rules.some(({ holds }) => holds(value)),
    ...(fields && { fields }),
    got: rules.find((rule) => rule.got)?.got,
    number: rules.some((rule) => rule.number),
    ...(names.length > 0 && { names }),
  };
};

/** One value that stands for something of its own, beside what a rule allows: `null`, `-1`, `false`. */
export const only = (value: unknown): OptionRule => ({
  must: shown(value),
  holds: (given) => given === value,
});

const ofPreset = Symbol("the names of a preset's options");

/**
 * Options of several functions in one object, each of which takes what concerns it: names that stand in
 * the preset are refused by none of them. Whoever spreads it takes this along.
 */
export const asPreset = <T extends object>(options: T): T => ({
  ...options,
  [ofPreset]: Object.keys(options),
});

/** The options that a table has rules for: what a function passes on of its own. */
export const optionsFor = <T extends object>(rules: OptionRules<T>, options: T): T =>
  Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(rules, name))) as T;

/** The rules of a function that leaves some options of another to itself. */
export const rulesWithout = <T, K extends keyof T & string>(
  rules: OptionRules<T>,
  ...names: readonly K[]
): OptionRules<Omit<T, K>> =>
  Object.fromEntries(
    Object.entries(rules).filter(([name]) => !(names as readonly string[]).includes(name)),
  ) as OptionRules<Omit<T, K>>;

/** Names of one option in other functions here, and in other frameworks. */
const alike = [
  [
    "maxTokens",
    "responseLength",
    "max_tokens",
    "max_new_tokens",
    "maxNewTokens",
    "max_completion_length",
  ],
  ["prompts", "batchSize", "train_batch_size", "per_device_train_batch_size"],
  ["n", "samples", "num_generations", "groupSize"],
  ["sampling", "temperature", "topP", "topK"],
  ["learningRate", "lr", "learning_rate"],
  ["steps", "maxSteps", "max_steps"],
  ["epochs", "num_train_epochs"],
  ["reward", "reward_funcs", "rewardFunction", "rewardFn", "reward_function"],
];

const meant = (name: string, known: readonly string[], path: string): string => {
  const other = alike.find((names) => names.includes(name))?.find((one) => known.includes(one));
  const near = other ?? nearest(name, known);
  return near === undefined ? "" : `; did you mean ${path}${near}?`;
};

/**
 * Refuses options that are none, that have a name nobody reads, or a value that makes no sense. Every
 * public function that takes options asks here, with a table that the compiler holds complete.
 *
 * `path` stands before every name: `"expand."` for options within options.
 *
 * @throws TypeError `Cannot ACTION: every option must be known, got NAME; did you mean NEAREST?`, and where a value is
 * of another kind than it must be. RangeError where it is a number or a text that cannot be.
 *
 * @example
 * ```js
 * import assert from "node:assert/strict";
 * import { checkOptions, integer, oneOf } from "./check-options.js";
 *
 * const rules = { times: integer(1), tone: oneOf(["loud", "quiet"]), signal: "signal?" };
 * checkOptions("shout", { times: 2 }, rules);
 * assert.throws(() => checkOptions("shout", { tims: 2 }, rules), /got tims; did you mean times\?/);
 * assert.throws(() => checkOptions("shout", { times: NaN }, rules), /times must be an integer of at least 1, got NaN/);
 * ```
 */
export function checkOptions<T extends object>(
  action: string,
  options: T,
  rules: OptionRules<NoInfer<T>>,
  path = "",
): void {
  checkArguments(action, { options }, { options: "object" });
  checkFields(action, path, options, rules);
}

function checkFields(action: string, path: string, given: object, rules: OptionTable): void {
  const known = Object.keys(rules);
  const { [ofPreset]: others = [] } = given as { [ofPreset]?: readonly string[] };
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(rules, name) || others.includes(name)) continue;
    const near = meant(name, known, path);
    throw new TypeError(
      `Cannot ${action}: every option must be known, got ${path}${name}${near || `; known are ${known.join(", ")}`}`,
    );
  }
  for (const [name, check] of Object.entries(rules)) {
    const value = (given as Readonly<Record<string, unknown>>)[name];
    const rule = ruleOf(check);
    const { must, holds, got = shown, names = [], fields, number, required } = rule;
    if (value === undefined && !required) continue;
    if (!holds(value)) {
      const asked: unknown = Array.isArray(value)
        ? value.find((one) => !names.includes(one as string))
        : value;
      const near = typeof asked === "string" ? nearest(asked, names) : undefined;
      const hint = near === undefined ? "" : `; did you mean "${near}"?`;
      const message = `Cannot ${action}: ${path}${name} must be ${must}, got ${got(value)}${hint}`;
      const inKind =
        (typeof value === "number" && number) || (typeof value === "string" && names.length > 0);
      throw inKind ? new RangeError(message) : new TypeError(message);
    }
    if (fields && kinds.object[1](value)) {
      checkFields(action, `${path}${name}.`, value as object, fields);
    }
  }
}

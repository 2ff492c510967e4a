import { type OptionRule, type OptionRules, optionsOf } from "./check-options.js";

// Options that are stated once. A table says of each option what it may be, what it is where nobody says, and its key
// in the configuration; the doc comment beside it says what it does. The types, the check, the defaults, the
// configuration's schema and the way from the one to the other follow.

/** An option's key in the configuration. */
export interface ConfigKey<Path extends string = string, T = unknown> {
  readonly path: Path;
  /** What help says. */
  readonly said: string;
  /** Where the configuration has a default of its own. */
  readonly by?: T | undefined;
  /** More of it than this is a slip. */
  readonly most?: number | undefined;
  /** Less of it than this, where code is given more freedom. */
  readonly least?: number | undefined;
  /** It must be above this. */
  readonly above?: number | undefined;
  /** Its name in the settings of verl's agent loop. */
  readonly loop?: string | undefined;
}

/** An option: what people write (`Given`), what code reads (`Complete`), the path of its key (`Path`). */
export interface Option<Given, Complete = Given, Path extends string = never> {
  readonly rule: OptionRule<Given>;
  /** The complete value; absent where it follows from other options. */
  readonly complete?: (given: Given | undefined) => Complete;
  readonly key?: ConfigKey<Path, Given>;
}

/** An option whose complete value follows from others: the function that takes them says it. */
export interface Following<Given, Complete, Path extends string = never> extends Option<
  Given,
  Complete,
  Path
> {
  readonly follows: true;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type OptionTable = Readonly<Record<string, Option<any, any, any>>>;

type GivenOf<O> = O extends { readonly rule: OptionRule<infer T> } ? T : never;
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type CompleteOf<O> = O extends Option<any, infer C, any> ? C : never;

/** What people write. */
export type Given<T extends OptionTable> = { -readonly [K in keyof T]?: GivenOf<T[K]> };

/**
 * Beside `Given` where an interface has no member of its own: one that only repeats a single other is called by the
 * other's name in the compiler's messages.
 */
export type Named = Record<never, never>;

/** What code reads: every option that has a default, and those without one where they were given. */
export type Complete<T extends OptionTable> = {
  -readonly [K in keyof T as undefined extends CompleteOf<T[K]> ? never : K]: CompleteOf<T[K]>;
} & {
  -readonly [K in keyof T as undefined extends CompleteOf<T[K]> ? K : never]?: Exclude<
    CompleteOf<T[K]>,
    undefined
  >;
};

type Followers<T extends OptionTable> = {
  [K in keyof T as T[K] extends { readonly follows: true } ? K : never]: CompleteOf<T[K]>;
};

/** The key of an option. */
export const key = <const Path extends string, T = never>(
  path: Path,
  said: string,
  more: Omit<ConfigKey<Path, T>, "path" | "said"> = {},
): ConfigKey<Path, T> => ({ path, said, ...more });

/** An option with a default. */
export const option = <const T, const Path extends string = never>(
  rule: OptionRule<T>,
  by: NoInfer<T>,
  place?: ConfigKey<Path, NoInfer<T>>,
): Option<T, T, Path> => completing(rule, (given) => given ?? by, place);

/** An option that is completed in another way. */
export const completing = <const T, C, const Path extends string = never>(
  rule: OptionRule<T>,
  complete: (given: T | undefined) => C,
  place?: ConfigKey<Path, NoInfer<T>>,
): Option<T, C, Path> => ({ rule, complete, ...(place && { key: place }) });

/** An option that follows from others where nobody says it. */
export const following = <const T, C = T, const Path extends string = never>(
  rule: OptionRule<T>,
  place?: ConfigKey<Path, NoInfer<T>>,
): Following<T, C, Path> => ({ rule, follows: true, ...(place && { key: place }) });

/** An option without a default of its own. Null under its key is none. */
export const unset = <const T, const Path extends string = never>(
  rule: OptionRule<T>,
  place?: ConfigKey<Path, NoInfer<T>>,
): Option<T, T | undefined, Path> => completing(rule, (given): T | undefined => given, place);

/** An option that is an object with options of its own. */
export const group = <G extends object, C>(table: OptionTable): Option<G, C> => ({
  rule: optionsOf<G>(rulesOf(table) as OptionRules<G>),
  complete: (given) => completed(table, given ?? {}, {}) as C,
});

/** The check of every option. */
export const rulesOf = <T extends OptionTable>(
  table: T,
): { readonly [K in keyof T]: OptionRule<GivenOf<T[K]>> } =>
  Object.fromEntries(Object.entries(table).map(([name, { rule }]) => [name, rule])) as never;

/** Options with every default; what follows from several of them is said here. */
export function completed<T extends OptionTable>(
  table: T,
  given: NoInfer<Given<T>>,
  followers: NoInfer<Followers<T>>,
): Complete<T> {
  const values = Object.entries(table).map(([name, { complete }]) => [
    name,
    complete ? complete(given[name]) : (followers as Record<string, unknown>)[name],
  ]);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Complete<T>;
}

/** The keys of a table's options, by option. */
export const keysOf = (table: OptionTable): readonly (readonly [string, ConfigKey])[] =>
  Object.entries(table).flatMap(([name, { key: place }]) =>
    place ? [[name, place as ConfigKey] as const] : [],
  );

import { z } from "#zod";
import {
  keysOf,
  type ConfigKey,
  type Option,
  type OptionTable,
} from "../../../common/options/option-table.js";
import type { OptionRule } from "../../../common/options/check-options.js";
import { get, put, type Tree } from "./tree.js";

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type PathOf<O> = O extends Option<any, any, infer Path> ? Path : never;
type Named<O, Section extends string> = [PathOf<O>] extends [never]
  ? never
  : PathOf<O> extends `${Section}.${infer Name}`
    ? Name
    : never;
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Value<O> = O extends Option<infer T, any, any> ? T : never;

/** Null where nothing has to be said. */
type None<O> = O extends { readonly follows: true }
  ? never
  : // eslint-disable-next-line @typescript-eslint/no-explicit-any
    O extends Option<any, infer C, any>
    ? undefined extends C
      ? null
      : never
    : never;

/** The keys of a section that options have, by their names. */
type Keys<T extends OptionTable, Section extends string> = {
  [K in keyof T as Named<T[K], Section>]: z.ZodType<Value<T[K]> | None<T[K]>>;
};

/** Those of a table's options that have a key. */
export type Keyed<T extends OptionTable> = {
  [K in keyof T as Named<T[K], string> extends never ? never : K]: Value<T[K]>;
};

/** The type of a key: what its option may be. */
function typeOf({ range, names, holds }: OptionRule, place: ConfigKey): z.ZodType {
  if (names) return z.enum(names as [string, ...string[]]);
  if (holds(true)) return z.boolean();
  const bounds = range ?? { least: -Infinity, most: Infinity, whole: false };
  const { most = Infinity, least = bounds.least } = place;
  const { above = bounds.above ? least : undefined } = place;
  let number = z.number();
  if (bounds.whole) number = number.int();
  if (above !== undefined) number = number.gt(above);
  else if (least > -Infinity) number = number.min(least);
  const bound = Math.min(bounds.most, most);
  return bound < Infinity ? number.max(bound) : number;
}

/** The keys of a section of the configuration that a table of options states. */
export function keysFrom<T extends OptionTable, const Section extends string>(
  table: T,
  section: Section,
): Keys<T, Section> {
  const keys = keysOf(table).flatMap(([option, place]) => {
    const name = place.path.slice(section.length + 1);
    if (!place.path.startsWith(`${section}.`) || name.includes(".")) return [];
    const { rule, complete } = table[option]!;
    const usual = complete?.(undefined);
    const open = complete !== undefined && usual === undefined;
    const type = open ? typeOf(rule, place).nullable() : typeOf(rule, place);
    return [[name, type.default(place.by ?? usual ?? null).describe(place.said)]];
  });
  return Object.fromEntries(keys) as Keys<T, Section>;
}

/** The checks of a table's options that have a key. */
export const keyedRules = <T extends OptionTable>(
  table: T,
): { readonly [K in keyof Keyed<T>]: OptionRule } =>
  Object.fromEntries(keysOf(table).map(([name]) => [name, table[name]!.rule])) as never;

/** What the configuration says of a table's options; null says nothing. */
export const optionsIn = <T extends OptionTable>(table: T, config: object): Keyed<T> =>
  Object.fromEntries(
    keysOf(table).flatMap(([option, { path }]) => {
      const value = get(config as Tree, path);
      return value === null ? [] : [[option, value]];
    }),
  ) as Keyed<T>;

/** Options under their keys; those that are not given, or have none, are left out. */
export const keysWith = (table: OptionTable, options: object): Tree =>
  keysOf(table).reduce<Tree>((tree, [option, { path }]) => {
    const value = (options as Readonly<Record<string, unknown>>)[option];
    return value === undefined ? tree : put(tree, path, value);
  }, {});

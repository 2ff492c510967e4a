import { z } from "#zod";
import { defined } from "../../../common/options/defined.js";
import type { SettingKind, SettingTable } from "../../../common/options/setting.js";
import { familyDefinitions } from "../../learn/estimators/registry.js";
import { type LossName, lossRegistry, ownTable } from "../../learn/losses/registry.js";
import { rules } from "../../rollout/rules/registry.js";
import { keysFrom } from "./from-table.js";
import { oneOf, section } from "./kinds.js";
import { put, type Tree } from "./tree.js";

// The keys of choices that are definitions: made of their settings.

/** A setting's name as a configuration has it, and back. */
export const snake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
export const camel = (name: string): string =>
  name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The values that a kind of setting can have. */
export function schemaOf(kind: SettingKind): z.ZodType {
  switch (kind.of) {
    case "flag":
      return z.boolean();
    case "count":
      return z
        .number()
        .int()
        .min(kind.least)
        .max(kind.most ?? 1_000_000);
    case "number": {
      const { least, above, most } = kind;
      let numbers = z.number();
      if (above !== undefined) numbers = numbers.gt(above);
      if (least !== undefined) numbers = numbers.min(least);
      return most === undefined ? numbers : numbers.max(most);
    }
    case "names":
      return z.enum(kind.names as [string, ...string[]]);
    case "counts": {
      const one = z.number().int().min(1);
      return kind.length === 2 ? z.tuple([one, one]) : z.array(one).min(1);
    }
  }
}

/** `lab.credit`: a section for each estimator of the family. */
export function creditKeys(): Record<string, z.ZodType<Record<string, unknown>>> {
  return Object.fromEntries(
    familyDefinitions().map(({ name, settings }) => [
      name,
      section(
        Object.fromEntries(
          Object.entries(settings as SettingTable).map(([key, { kind, value, says }]) => {
            const given = schemaOf(kind);
            const values = value === null ? given.nullable() : given;
            return [snake(key), values.default(value as never).describe(says)];
          }),
        ),
      ),
    ]),
  );
}

const underKeys = (options: object): Tree =>
  Object.fromEntries(Object.entries(defined(options)).map(([name, one]) => [snake(name), one]));

/** What estimators are told under their names, as `lab.credit`; what code alone can say has no key. */
export const creditTree = (options: object): Tree =>
  familyDefinitions().reduce<Tree>((tree, { name, settings }) => {
    const told = (options as Readonly<Record<string, object | undefined>>)[camel(name)] ?? {};
    const keyed = Object.entries(told).filter(([one]) => Object.hasOwn(settings as object, one));
    return keyed.length > 0
      ? put(tree, `lab.credit.${name}`, underKeys(Object.fromEntries(keyed)))
      : tree;
  }, {});

/** What a rule is set to, as `lab.expand`. */
export const expandTree = (options: object): Tree => put({}, "lab.expand", underKeys(options));

/** What several rules share comes first. */
const shared = ["trees", "rounds", "points", "rows"];

/** One key for all rules that have a setting of the name. */
interface SharedKey {
  kind: SettingKind;
  /** The rules by what they say of it. */
  said: Map<string, string[]>;
}

/** `lab.expand`: the settings of all rules that look at what was written; null is the published value. */
export function expandKeys(): Record<string, z.ZodType<unknown>> {
  const keys = new Map<string, SharedKey>(shared.map((name) => [name, undefined!]));
  const written = rules.all.flatMap((one) => ("decide" in one ? [] : [one]));
  for (const { name: rule, settings } of written) {
    for (const [name, { kind, says }] of Object.entries(settings as SettingTable)) {
      const known = keys.get(name) ?? { kind, said: new Map<string, string[]>() };
      known.said.set(says, [...(known.said.get(says) ?? []), rule]);
      keys.set(name, known);
    }
  }
  // A sentence of its own needs no rule before it.
  const words = ([says, rules]: [string, string[]]) =>
    /^[A-Z]/.test(says) ? says : `${rules.join(", ")}: ${says}`;
  return Object.fromEntries(
    [...keys].map(([name, { kind, said }]) => [
      snake(name),
      schemaOf(kind)
        .nullable()
        .default(null)
        .describe([...said].map(words).join("; ")),
    ]),
  );
}

/** The keys of losses' own options, and of their names: those that were added by now are among them. */
export const lossKeys = () => ({
  policyLoss: {
    loss_mode: oneOf(
      lossRegistry.names as unknown as readonly [LossName, ...LossName[]],
      "vanilla",
    ).describe("The policy loss by name"),
    ...keysFrom(ownTable(), "actor_rollout_ref.actor.policy_loss"),
  },
  actor: keysFrom(ownTable(), "actor_rollout_ref.actor"),
});

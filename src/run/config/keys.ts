import type { z } from "#zod";
import type { ExpandOptions } from "../../rollout/rules/registry.js";
import { camel } from "./choice-keys.js";
import { addedWords, whileKnown } from "./choices.js";
import { kept } from "./kept-keys.js";
import { section } from "./kinds.js";
import { type Config, schema } from "./schema.js";

/** One key of the configuration, as help and reference tables show it. */
interface ConfigKey {
  path: string;
  description?: string;
  default: unknown;
  /** Checked and exported, but without meaning on one machine. */
  kept: boolean;
  /** Any keys may stand below it. */
  free: boolean;
}

type Definition = {
  type: string;
  innerType?: z.core.$ZodType;
  shape?: Record<string, z.core.$ZodType>;
};

function* walk(type: z.core.$ZodType, path: string): Generator<Omit<ConfigKey, "kept">> {
  let at = type as z.ZodType;
  let meta = at.meta();
  let by: unknown;
  for (;;) {
    const def = at.def as unknown as Definition & { defaultValue?: unknown };
    if (def.type === "default") by = def.defaultValue;
    if (!def.innerType) break;
    at = def.innerType as z.ZodType;
    meta = { ...at.meta(), ...meta };
  }
  const { shape, type: kind } = at.def as unknown as Definition;
  if (shape) {
    for (const [key, below] of Object.entries(shape))
      yield* walk(below, path ? `${path}.${key}` : key);
    return;
  }
  yield {
    path,
    ...(meta?.description ? { description: meta.description } : {}),
    default: by,
    free: kind === "record",
  };
}

const keptPaths = new Set(
  Object.entries(kept).flatMap(([path, keys]) =>
    [...walk(section(keys), path)].map((key) => key.path),
  ),
);

/** Every key the configuration knows, in the schema's order. */
export const configKeys = whileKnown((): readonly ConfigKey[] =>
  [...walk(schema(), "")].map(({ path, description = "", ...key }) => ({
    path,
    ...(description && { description: description + addedWords(path, description) }),
    ...key,
    kept: keptPaths.has(path),
  })),
);

/** A section of `lab.credit` under the names of options; null is unset. */
export function creditSettings(keys: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(keys).flatMap(([key, value]) => (value === null ? [] : [[camel(key), value]])),
  );
}

/** `lab.expand` under the names of a rollout's options, without what is left to the published values. */
export function expandSettings(keys: Config["lab"]["expand"]): ExpandOptions {
  return creditSettings(keys);
}

import { addressOf } from "#platform/addresses";
import { isAbsolute, resolve } from "#platform/path";
import type { Named, Registry } from "../../../common/options/registry.js";
import { homePath } from "../../base/files/home-path.js";
import { importModule } from "../../base/modules/import-module.js";
import { estimatorsByName } from "../../learn/estimators/registry.js";
import { lossRegistry } from "../../learn/losses/registry.js";
import { rewards } from "../../reward/rewards/registry.js";
import { rules } from "../../rollout/rules/registry.js";
import { callDialects } from "../../tools/calls/dialects/registry.js";
import { loggers } from "../loggers/registry.js";
import { stalenessLimits } from "../staleness/limits/registry.js";
import { get, put, type Tree } from "./tree.js";

// Which keys of a configuration take the name of a choice, or a list of them. Each also takes a definition from a module of a
// person's own, `path.ts#name`, which is then known like those of the library: to checks, keys and doctor.

interface Choice {
  readonly key: string;
  readonly registry: Registry<Named>;
  /** Whether a file without `#name` is something else than a definition. */
  readonly file?: true;
}

const choice = <D extends Named>(key: string, registry: Registry<D>): Choice => ({
  key,
  registry: registry as unknown as Registry<Named>,
});

/** A new kind of choice is its line here. */
export const choices: readonly Choice[] = [
  choice("lab.branch_rule", rules),
  choice("algorithm.adv_estimator", estimatorsByName),
  choice("actor_rollout_ref.actor.policy_loss.loss_mode", lossRegistry),
  choice("actor_rollout_ref.rollout.tools.calls", callDialects),
  choice("lab.staleness_limit", stalenessLimits),
  choice("trainer.logger", loggers),
  // A file alone exports the function itself.
  { ...choice("custom_reward_function.path", rewards), file: true },
];

/** Whether a value names a module, with or without its export. */
export const isModule = (value: string): boolean => /\.m?[jt]s(?:#|$)/.test(value);

/** The names that were added while the program runs: no type can know them. */
export const added = <D extends Named>(registry: Registry<D>): readonly never[] =>
  registry.names.slice(registry.built.length) as never[];

/** What help says behind a key's description: the definitions that were added, where it does not name them. */
export function addedWords(path: string, description: string): string {
  const { registry } = choices.find(({ key }) => key === path) ?? {};
  const others = registry?.all.slice(registry.built.length) ?? [];
  const words = others.flatMap(({ name, ...one }: Named & { words?: string; title?: string }) => {
    const said = one.words ?? one.title;
    return description.includes(name) ? [] : [said === undefined ? name : `${name} (${said})`];
  });
  return words.length > 0 ? `; added: ${words.join(", ")}` : "";
}

/** What an option takes: a name of the library's, or the definition of a person's own. */
export const chosen = <D extends Named, N extends string>(registry: Registry<D>, name: N): N | D =>
  registry.built.some((one) => one.name === name) ? name : (registry.get(name) ?? name);

/** The name that a definition gives itself, whatever it was asked for by. */
export const ownName = <D extends Named>(registry: Registry<D>, name: string): string =>
  registry.get(name)?.name ?? name;

/** Made when it is first asked for, and again after a definition was added. */
export function whileKnown<T>(make: () => T): () => T {
  let made: { of: number; value: T } | undefined;
  return () => {
    const of = choices.reduce((sum, { registry }) => sum + registry.names.length, 0);
    if (made?.of !== of) made = { of, value: make() };
    return made.value;
  };
}

/** Makes the definition known that a module exports: under its own name, and as a configuration names it. */
async function load({ registry }: Choice, name: string): Promise<void> {
  if (registry.get(name)) return;
  const article = /^[aeiou]/.test(registry.kind) ? "an" : "a";
  const action = `Cannot load ${article} ${registry.kind}`;
  const [file = "", exported = "default"] = name.split("#");
  const path = homePath(file);
  const module = await importModule(addressOf(isAbsolute(path) ? path : resolve(path))).catch(
    (error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${action}: ${file} must be a module that loads, got ${reason}`, {
        cause: error,
      });
    },
  );
  const definition = module[exported];
  if (!registry.isOne(definition)) {
    const got = exported in module ? `a ${typeof definition}` : Object.keys(module).join(", ");
    throw new TypeError(
      `${action}: ${file} must export ${article} ${registry.kind} ${exported}, got ${got || "nothing"}`,
    );
  }
  registry.add(definition);
  registry.add(definition, name);
}

/**
 * Loads the definitions that a configuration names.
 *
 * @param place where a key's path leads
 * @returns the configuration with these paths
 */
export async function loadChoices(
  config: Tree,
  place: (key: string, path: string) => string,
): Promise<Tree> {
  let out = config;
  for (const one of choices) {
    const known = async (value: unknown): Promise<unknown> => {
      if (typeof value !== "string" || !isModule(value) || value.includes("${")) return value;
      if (one.file && !value.includes("#")) return value;
      const name = place(one.key, value);
      await load(one, name);
      return name;
    };
    const given = get(out, one.key);
    if (typeof given === "string") out = put(out, one.key, await known(given));
    else if (Array.isArray(given)) out = put(out, one.key, await Promise.all(given.map(known)));
  }
  return out;
}

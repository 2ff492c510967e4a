import type { z } from "#zod";
import { environment } from "#platform/process";
import { readFile } from "#platform/files";
import { dirname, resolve } from "#platform/path";
import { nearest } from "../../../common/options/nearest.js";
import {
  checkOptions,
  either,
  listOf,
  oneOf,
  type OptionRules,
  texts,
} from "../../../common/options/check-options.js";
import { homePath } from "../../base/files/home-path.js";
import { completeSettings } from "../../rollout/rules/settings.js";
import { writtenRule, writtenRules } from "../../rollout/rules/registry.js";
import { missingOf } from "../../learn/losses/base/definition.js";
import { lossOf } from "../../learn/losses/registry.js";
import { loadChoices, whileKnown } from "./choices.js";
import { configKeys, expandSettings } from "./keys.js";
import { lossOptions } from "./loss-keys.js";
import type { LoadedConfig, LoadOptions } from "./options.js";
import { optionNames, underKeys } from "./option-keys.js";
import { parseOverride } from "./override.js";
import { placePath, placePaths } from "./place-paths.js";
import { configPresets } from "./presets.js";
import { type Config, schema } from "./schema.js";
import { leaves } from "../../base/show/leaves.js";
import { get, isTree, merge, put, remove, type Tree } from "./tree.js";
import { parse } from "yaml";

/** Fills in `${other.key}` and `${oc.env:NAME,default}` everywhere, whole values keeping their type. */
function interpolate(tree: Tree, env: Readonly<Record<string, string | undefined>>): Tree {
  const open: string[] = [];

  function lookUp(reference: string): unknown {
    const [, name, otherwise] = /^oc\.env:([^,]+)(?:,(.*))?$/.exec(reference) ?? [];
    if (name !== undefined) {
      const value = env[name] ?? otherwise;
      if (value !== undefined) return value;
      throw new RangeError(
        `Cannot resolve the configuration: \${${reference}} needs the environment variable ${name}, which is not set`,
      );
    }
    if (open.includes(reference)) {
      throw new RangeError(
        `Cannot resolve the configuration: \${…} must not go in a circle, got ${[...open, reference].join(" -> ")}`,
      );
    }
    const value = get(tree, reference);
    if (value === undefined) {
      throw new RangeError(
        `Cannot resolve the configuration: \${…} must name a key, got \${${reference}}`,
      );
    }
    open.push(reference);
    const resolved = resolve(value);
    open.pop();
    return resolved;
  }

  function resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolve);
    if (isTree(value)) {
      return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, resolve(v)]));
    }
    if (typeof value !== "string") return value;
    const whole = /^\$\{([^${}]+)\}$/.exec(value);
    if (whole) return lookUp(whole[1]!);
    return value.replace(/\$\{([^${}]+)\}/g, (_, reference: string) => String(lookUp(reference)));
  }

  return resolve(tree) as Tree;
}

/** What mini-batches are cut from, and by which key: each must come out whole. */
const divisions = (config: Config) =>
  [
    ["actor_rollout_ref.actor.ppo_mini_batch_size", config.actor_rollout_ref.actor],
    ...(config.algorithm.adv_estimator === "gae"
      ? ([["critic.ppo_mini_batch_size", config.critic]] as const)
      : []),
  ] as const;

/** Throws for values that are good each and no good together. */
function refuseTogether(config: Config): void {
  const { train_batch_size: batch } = config.data;
  for (const [key, { ppo_mini_batch_size: mini }] of divisions(config)) {
    // One larger than the batch is the whole batch.
    if (mini >= batch || batch % mini === 0) continue;
    throw new RangeError(
      `Cannot load the configuration: ${key}: must divide data.train_batch_size (in a cell: miniBatch and prompts), ${batch}, got ${mini}`,
    );
  }
  refuseIncomplete(config);
  refuseRows(config);
  const { resume_mode: mode, resume_from_path: from } = config.trainer;
  if (mode === "resume_path" && from === null) {
    throw new RangeError(
      "Cannot load the configuration: trainer.resume_mode: resume_path needs trainer.resume_from_path, got none",
    );
  }
}

/** Throws where a loss needs something that it has no default for. */
function refuseIncomplete(config: Config): void {
  const options = lossOptions(config);
  const loss = lossOf(options);
  const [name] = missingOf(loss, options);
  if (name === undefined) return;
  const path = loss.options?.[name]?.key?.path.replace(/^actor_rollout_ref\.actor\./, "");
  throw new RangeError(
    `Cannot load the configuration: actor_rollout_ref.actor.policy_loss.loss_mode: ${loss.name} needs ${path ?? name}, got none`,
  );
}

/**
 * Throws where a rule that looks at what was written cannot be set so, or makes another number of
 * trajectories.
 */
function refuseRows({ lab, actor_rollout_ref: { rollout } }: Config): void {
  const { branch_rule: rule } = lab;
  const given = expandSettings(lab.expand);
  const written = writtenRule(rule);
  if (!written) {
    const [key] = Object.keys(given);
    if (key === undefined) return;
    throw new RangeError(
      `Cannot load the configuration: lab.expand: is for the rules ${writtenRules().join(", ")}, got lab.branch_rule ${rule}`,
    );
  }
  if (rollout.enable_dynamic_rollouts) {
    throw new RangeError(
      `Cannot load the configuration: actor_rollout_ref.rollout.enable_dynamic_rollouts: is for AEPO's rules, got lab.branch_rule ${rule}`,
    );
  }
  const settings = completeSettings("load the configuration: lab.expand", written, given);
  const n = written.trajectories?.(settings).n;
  if (n === undefined || n === rollout.n) return;
  throw new RangeError(
    `Cannot load the configuration: actor_rollout_ref.rollout.n: must be the ${n} trajectories that lab.branch_rule ${rule} makes of lab.expand, got ${rollout.n}`,
  );
}

/** Keys whose default is another key's value. */
const linked: Readonly<Record<string, string>> = {
  "actor_rollout_ref.rollout.prompt_length": "data.max_prompt_length",
  "actor_rollout_ref.rollout.response_length": "data.max_response_length",
  "actor_rollout_ref.actor.clip_ratio_low": "actor_rollout_ref.actor.clip_ratio",
  "actor_rollout_ref.actor.clip_ratio_high": "actor_rollout_ref.actor.clip_ratio",
  "critic.ppo_mini_batch_size": "actor_rollout_ref.actor.ppo_mini_batch_size",
  "critic.ppo_epochs": "actor_rollout_ref.actor.ppo_epochs",
  "critic.shuffle": "actor_rollout_ref.actor.shuffle",
  "critic.use_dynamic_bsz": "actor_rollout_ref.actor.use_dynamic_bsz",
  "critic.loss_agg_mode": "actor_rollout_ref.actor.loss_agg_mode",
  "critic.model.path": "actor_rollout_ref.model.path",
};

/**
 * What a configuration says besides the defaults, by its keys' paths, in their order. A key that is added later, with a
 * default, changes nothing of it.
 */
export function chosenSettings(config: Config): [path: string, value: unknown][] {
  const usual = schema().parse({}) as Tree;
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
  /** A default that follows other keys is theirs in this configuration. */
  const followed = (path: string, source: string) =>
    get(interpolate(put(config, path, source), {}), path);
  return [...leaves(config)]
    .filter(([path, value]) => {
      const by = linked[path] === undefined ? get(usual, path) : `\${${linked[path]}}`;
      const follows = typeof by === "string" && by.includes("${");
      return !same(value, follows ? followed(path, by) : by);
    })
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

const presetRule = oneOf(Object.keys(configPresets));
export const loadRules: OptionRules<LoadOptions> = {
  files: texts,
  preset: either(presetRule, listOf(presetRule, "their names")),
  values: "object?",
  overrides: texts,
  env: "object?",
};

const byPath = whileKnown(() => new Map(configKeys().map((key) => [key.path, key])));

/** The key that covers a leaf: its own, or the free-form one above it. */
function keyOf(path: string) {
  const above = (key: { path: string; free: boolean }) =>
    key.free && path.startsWith(`${key.path}.`);
  return byPath().get(path) ?? configKeys().find(above);
}

/** The full paths near a mistyped one: the same name elsewhere, or a near name. */
function suggestion(path: string): string {
  const name = path.split(".").pop()!;
  const paths = [...byPath().keys()];
  const elsewhere = paths.filter((key) => key.endsWith(`.${name}`));
  const near =
    nearest(path, elsewhere) ??
    elsewhere[0] ??
    nearest(path, paths) ??
    (path.includes(".") ? undefined : nearest(path, [...optionNames()])) ??
    nearest(name, paths);
  if (near) return `; did you mean ${near}?`;
  const section = path.slice(0, -name.length);
  const keys = paths.filter((key) => section !== "" && key.startsWith(section));
  const names = keys.map((key) => key.slice(section.length)).filter((key) => !key.includes("."));
  const more = names.length > mostNamed ? ", …" : "";
  const told = names.slice(0, mostNamed).join(", ");
  return names.length > 0 ? `; ${section.slice(0, -1)} has ${told}${more}` : "";
}

/** So many keys of a section are named. */
const mostNamed = 20;

function isKnown(path: string): boolean {
  // An empty section is a leaf of the tree and no key.
  return keyOf(path) !== undefined || configKeys().some((key) => key.path.startsWith(`${path}.`));
}

/** Throws for a leaf that no key of the schema covers. */
function refuseUnknown(tree: Tree): void {
  for (const [path] of leaves(tree)) {
    if (isKnown(path)) continue;
    throw new RangeError(
      `Cannot load the configuration: every key must be known, got ${path}${suggestion(path)}`,
    );
  }
}

const words: Readonly<Record<string, string>> = {
  ...{ number: "a number", int: "a whole number", string: "text", boolean: "true or false" },
  ...{ array: "a list", object: "keys with values" },
};

/** What a value must be, in the words of other errors; undefined where the schema's own say more. */
function mustBe(issue: z.core.$ZodIssue): string | undefined {
  if (issue.code === "invalid_type") return words[issue.expected];
  if (issue.code === "too_small" && /string|array/.test(issue.origin))
    return `a ${issue.origin === "array" ? "list" : "text"} of at least ${issue.minimum}`;
  if (issue.code === "too_small")
    return `${issue.inclusive === false ? "above" : "at least"} ${issue.minimum}`;
  if (issue.code === "too_big")
    return `${issue.inclusive === false ? "below" : "at most"} ${issue.maximum}`;
  return issue.code === "invalid_value" ? `one of ${issue.values.join(", ")}` : undefined;
}

function explain({ issues }: z.core.$ZodError, tree: Tree) {
  const issue = issues[0]!;
  // A place in a list is told with the whole list.
  const inList = issue.path.findIndex((part) => typeof part === "number");
  const path = issue.path.slice(0, inList < 0 ? undefined : inList).join(".");
  const got = JSON.stringify(get(tree, path));
  const must = inList < 0 ? mustBe(issue) : undefined;
  const why = must === undefined ? `: ${issue.message}` : ` must be ${must}`;
  return new RangeError(`Cannot load the configuration: ${path}${why}, got ${got}`);
}

async function readTree(file: string): Promise<Tree> {
  const source = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Error(`Cannot load the configuration: ${file} must be readable (${error.code})`);
  });
  let tree: unknown;
  try {
    tree = parse(source);
  } catch (error) {
    throw new SyntaxError(
      `Cannot load the configuration: ${file} must be YAML, got ${(error as Error).message}`,
    );
  }
  if (tree === null) return {};
  if (!isTree(tree)) {
    throw new TypeError(
      `Cannot load the configuration: ${file} must hold sections, got ${typeof tree}`,
    );
  }
  return tree;
}

/** As `loadConfig`; here is what needs the schema, which takes a moment to build. */
export async function loadAndCheck(options: LoadOptions): Promise<LoadedConfig> {
  checkOptions("load the configuration", options, loadRules);
  const { files = [], preset = [], values = {}, overrides = [], env = environment } = options;
  const notes: string[] = [];
  let given: Tree = {};
  for (const name of typeof preset === "string" ? [preset] : preset) {
    given = merge(given, configPresets[name]);
  }
  /** The folder that a key's paths lead from: its file's; none is the working folder. */
  const folders = new Map<string, string>();
  for (const file of files) {
    const path = resolve(homePath(file));
    const tree = underKeys(await readTree(path));
    given = merge(given, tree);
    for (const [key] of leaves(tree)) folders.set(key, dirname(path));
  }
  const told = underKeys(values);
  given = merge(given, told);
  for (const [key] of leaves(told)) folders.delete(key);
  for (const source of overrides) {
    const change = parseOverride(source);
    if (!change) notes.push(`${source} has no value: left as it is`);
    else if (change.kind === "remove") given = remove(given, change.path);
    else {
      const said = put({}, change.path, change.value);
      const keyed = underKeys(said);
      if (keyed === said) given = put(given, change.path, change.value);
      else given = merge(given, keyed);
      for (const [key] of leaves(keyed)) folders.delete(key);
      folders.delete(change.path);
    }
  }
  const place = (key: string, path: string) => placePath(key, path, folders.get(key));
  given = await loadChoices(given, place);
  refuseUnknown(given);

  let all = schema().parse({}) as Tree;
  for (const [path, source] of Object.entries(linked)) {
    all = put(all, path, `\${${source}}`);
    const folder = folders.get(source);
    if (folder !== undefined && get(given, path) === undefined) folders.set(path, folder);
  }
  const filled = await loadChoices(interpolate(merge(all, given), env), place);
  const resolved = placePaths(filled, folders);
  const checked = schema().safeParse(resolved);
  if (!checked.success) throw explain(checked.error, resolved);
  refuseTogether(checked.data);
  const kept = [...leaves(given)].map(([path]) => path).filter((path) => keyOf(path)?.kept);
  return { config: checked.data, kept, notes };
}

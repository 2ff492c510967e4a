import { environment } from "#platform/environment";
import { readFile } from "#platform/files";
import { dirname, resolve } from "#platform/path";
import { parse } from "yaml";
import {
  checkOptions,
  either,
  listOf,
  oneOf,
  type OptionRules,
  texts,
} from "../../arguments/check-options.js";
import { homePath } from "../../files/home-path.js";
import { nearest } from "../../../spelling/nearest.js";
import { interpolate } from "./interpolate.js";
import { configKeys } from "./keys.js";
import { parseOverride } from "./override.js";
import type { LoadOptions, LoadedConfig } from "./options.js";
import { configPresets } from "./presets.js";
import { placePaths } from "./place-paths.js";
import { refuseTogether } from "./refuse-together.js";
import { schema } from "./schema.js";
import { type Tree, get, isTree, leaves, merge, put, remove } from "./tree.js";

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

const presetRule = oneOf(Object.keys(configPresets));
export const loadRules: OptionRules<LoadOptions> = {
  files: texts,
  preset: either(presetRule, listOf(presetRule, "their names")),
  values: "object?",
  overrides: texts,
  env: "object?",
};

const byPath = new Map(configKeys.map((key) => [key.path, key]));
const freeKeys = configKeys.filter((key) => key.free);

/** The key that covers a leaf: its own, or the free-form one above it. */
function keyOf(path: string) {
  return byPath.get(path) ?? freeKeys.find((key) => path.startsWith(`${key.path}.`));
}

/** The full paths near a mistyped one: the same name elsewhere, or a near name. */
function suggestion(path: string): string {
  const name = path.split(".").pop()!;
  const paths = [...byPath.keys()];
  const elsewhere = paths.filter((key) => key.endsWith(`.${name}`));
  const near =
    nearest(path, elsewhere) ?? elsewhere[0] ?? nearest(path, paths) ?? nearest(name, paths);
  return near ? `; did you mean ${near}?` : "";
}

function isKnown(path: string): boolean {
  // An empty section is a leaf of the tree and no key.
  return keyOf(path) !== undefined || configKeys.some((key) => key.path.startsWith(`${path}.`));
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

function explain(
  error: { issues: readonly { path: PropertyKey[]; message: string }[] },
  tree: Tree,
) {
  const [issue] = error.issues;
  // A place in a list is told with the whole list.
  const inList = issue!.path.findIndex((part) => typeof part === "number");
  const path = issue!.path.slice(0, inList < 0 ? undefined : inList).join(".");
  const got = JSON.stringify(get(tree, path));
  return new RangeError(`Cannot load the configuration: ${path}: ${issue!.message}, got ${got}`);
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
    const tree = await readTree(path);
    given = merge(given, tree);
    for (const [key] of leaves(tree)) folders.set(key, dirname(path));
  }
  given = merge(given, values);
  for (const [key] of leaves(values)) folders.delete(key);
  for (const source of overrides) {
    const change = parseOverride(source);
    if (!change) notes.push(`${source} has no value: left as it is`);
    else if (change.kind === "remove") given = remove(given, change.path);
    else {
      given = put(given, change.path, change.value);
      folders.delete(change.path);
    }
  }
  refuseUnknown(given);

  let all = schema.parse({}) as Tree;
  for (const [path, source] of Object.entries(linked)) {
    all = put(all, path, `\${${source}}`);
    const folder = folders.get(source);
    if (folder !== undefined && get(given, path) === undefined) folders.set(path, folder);
  }
  const resolved = placePaths(interpolate(merge(all, given), env), folders);
  const checked = schema.safeParse(resolved);
  if (!checked.success) throw explain(checked.error, resolved);
  refuseTogether(checked.data);
  const kept = [...leaves(given)].map(([path]) => path).filter((path) => keyOf(path)?.kept);
  return { config: checked.data, kept, notes };
}

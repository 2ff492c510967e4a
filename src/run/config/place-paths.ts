import { existsSync } from "#platform/files";
import { isAbsolute, resolve } from "#platform/path";
import { homePath } from "../../base/files/home-path.js";
import { modelFolder } from "../../model/files/model-folder.js";
import { leaves } from "../../base/show/leaves.js";
import { choices, isModule } from "./choices.js";
import { type Tree, get, put } from "./tree.js";

/** Keys that name what a run reads, and which of their values are paths. */
const inputs: Readonly<Record<string, (value: string) => boolean>> = {
  "data.train_files": (value) => !value.startsWith("tasks:"),
  "data.val_files": (value) => !value.startsWith("tasks:"),
  "data.tokenizer": () => true,
  "data.environment": isModule,
  "actor_rollout_ref.model.path": () => true,
  "critic.model.path": () => true,
  "trainer.resume_from_path": () => true,
  ...Object.fromEntries(choices.map(({ key }) => [key, isModule])),
};
/** Keys that name what it writes: seen from the working folder, as every command's. */
const outputs = [
  "trainer.default_local_dir",
  "trainer.rollout_data_dir",
  "trainer.validation_data_dir",
];
const tools = "actor_rollout_ref.rollout.tools.tool_instances";

/** A path of a file, seen from the file's folder, else from the working folder. */
export function placePath(key: string, path: string, folder: string | undefined): string {
  const home = homePath(path);
  if (folder === undefined || isAbsolute(home)) return home;
  // `./tool.js#name` names an export of a module.
  const [file = "", ...name] = home.split("#");
  const [beside, here] = [resolve(folder, file), resolve(file)];
  if (existsSync(beside)) return [beside, ...name].join("#");
  if (existsSync(here) || existsSync(modelFolder(file))) return home;
  throw new RangeError(
    `Cannot load the configuration: ${key}: must be beside the configuration or in the working folder, got neither ${beside} nor ${here}`,
  );
}

const isBeside = (path: unknown, folder: string | undefined): boolean =>
  typeof path === "string" && folder !== undefined && existsSync(resolve(folder, homePath(path)));

/** A configuration whose `~` are folders, and whose files' paths lead from where each file is. */
export function placePaths(tree: Tree, folders: ReadonlyMap<string, string>): Tree {
  let out = tree;
  const place = (key: string, isPath: (value: string) => boolean) => {
    const value = get(out, key);
    const one = (path: unknown) =>
      typeof path === "string" && path !== "" && isPath(path)
        ? placePath(key, path, folders.get(key))
        : path;
    if (value !== undefined)
      out = put(out, key, Array.isArray(value) ? value.map(one) : one(value));
  };
  for (const [key, isPath] of Object.entries(inputs)) place(key, isPath);
  for (const key of outputs) {
    const value = get(out, key);
    if (typeof value === "string") out = put(out, key, homePath(value));
  }
  for (const [key, value] of leaves(tree)) {
    if (!key.startsWith(`${tools}.`)) continue;
    if (key.endsWith(".class_path")) place(key, (path) => /^[.~][\\/.]/.test(path));
    else if (/\.params\.(corpus|folder)$/.test(key)) place(key, () => true);
    // A cache is read where it is, and written anew where nothing is yet.
    else if (/\.(cache_file|page_cache)$/.test(key) && isBeside(value, folders.get(key)))
      place(key, () => true);
    else if (typeof value === "string") out = put(out, key, homePath(value));
  }
  return out;
}

/** A configuration in which each path of something that a run reads is another. */
export function inputPaths(config: Tree, change: (key: string, path: string) => string): Tree {
  let out = config;
  for (const [key, value] of leaves(config)) {
    const isPath = inputs[key] ?? (toolInput.test(key) ? looksLikePath : undefined);
    if (!isPath) continue;
    const one = (path: unknown) =>
      typeof path === "string" && path !== "" && isPath(path) ? change(key, path) : path;
    out = put(out, key, Array.isArray(value) ? value.map(one) : one(value));
  }
  return out;
}

const looksLikePath = (value: string): boolean => /[\\/]|\.\w+$/.test(value);
const toolInput = new RegExp(
  `^${tools}\\..*\\.(class_path|params\\.(corpus|folder|cache_file|page_cache))$`,
);

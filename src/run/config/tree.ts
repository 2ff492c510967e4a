import { isRecord } from "../../../common/options/is-record.js";

/** A configuration before it is checked: sections, lists and leaves. */
export type Tree = Record<string, unknown>;

export const isTree: (value: unknown) => value is Tree = isRecord;

/** The value at a dotted path, or undefined. */
export function get(tree: Tree, path: string): unknown {
  let at: unknown = tree;
  for (const key of path.split(".")) {
    if (!isTree(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at;
}

/** A copy with a value at a dotted path. */
export function put(tree: Tree, path: string, value: unknown): Tree {
  const [key, ...rest] = path.split(".") as [string, ...string[]];
  if (rest.length === 0) return { ...tree, [key]: value };
  const below = tree[key];
  return { ...tree, [key]: put(isTree(below) ? below : {}, rest.join("."), value) };
}

/** A copy without the value at a dotted path. */
export function remove(tree: Tree, path: string): Tree {
  const [key, ...rest] = path.split(".") as [string, ...string[]];
  const { [key]: below, ...others } = tree;
  if (rest.length === 0) return others;
  return isTree(below) ? { ...others, [key]: remove(below, rest.join(".")) } : tree;
}

/** The second over the first, section by section; lists and leaves are replaced whole. */
export function merge(base: Tree, over: Tree): Tree {
  const out: Tree = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = out[key];
    out[key] = isTree(below) && isTree(value) ? merge(below, value) : value;
  }
  return out;
}

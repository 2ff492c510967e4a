import { type Tree, get, isTree } from "./tree.js";

/** Fills in `${other.key}` and `${oc.env:NAME,default}` everywhere, whole values keeping their type. */
export function interpolate(tree: Tree, env: Readonly<Record<string, string | undefined>>): Tree {
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

// Members of what Node gives, told by Node itself while its types are not loaded. Those are a hundred files;
// whoever types `process.` first should not wait for them. This thread's globals are the cells' in all but a few
// functions.
import type { Completion } from "../../contract/compiler.js";
import type { api, BoundFile } from "./typescript.js";
import type { World } from "./world.js";

/** Completions at a position behind a global of Node's; undefined for anything that TypeScript should answer. */
export function reflected(world: World, file: BoundFile, position: number): Completion | undefined {
  const access = accessAt(world, file, position);
  const path = access && pathOf(world, access.expression);
  if (access === undefined || path === undefined) return undefined;
  const value = valueAt(path);
  if (value === undefined) return undefined;
  const start = access.name.getStart(file);
  const typed = file.text.slice(start, position);
  const items = membersOf(value)
    .filter(({ text }) => text.startsWith(typed))
    .sort((a, b) => (a.text < b.text ? -1 : 1));
  if (items.length === 0) return undefined;
  return { start, end: access.name.end, matches: items.map(({ text }) => text), items };
}

/** The access whose name is being written. */
function accessAt(
  { ts }: World,
  file: BoundFile,
  position: number,
): api.PropertyAccessExpression | undefined {
  let found: api.PropertyAccessExpression | undefined;
  const look = (node: api.Node): void => {
    if (position < node.pos || position > node.end) return;
    if (ts.isPropertyAccessExpression(node) && node.name.getStart(file) <= position) found = node;
    ts.forEachChild(node, look);
  };
  look(file);
  return found;
}

/** The names of `a.b.c`, where `a` is nobody's but Node's. */
function pathOf(world: World, node: api.Expression): string[] | undefined {
  const { ts, checker } = world;
  if (ts.isIdentifier(node)) {
    const isDeclared = checker.resolveName(node.text, node, ts.SymbolFlags.Value, false);
    return isDeclared === undefined ? [node.text] : undefined;
  }
  if (!ts.isPropertyAccessExpression(node) || node.questionDotToken !== undefined) return undefined;
  const before = pathOf(world, node.expression);
  return before && [...before, node.name.text];
}

/** What stands there, unless code would have to run to find out. */
function valueAt([root = "", ...path]: readonly string[]): object | undefined {
  // These two are behind getters of Node's own that do nothing else.
  let at: unknown = /^(process|Buffer)$/.test(root)
    ? Reflect.get(globalThis, root)
    : descriptorOf(globalThis, root)?.value;
  for (const name of path) {
    if (!isObject(at)) return undefined;
    at = descriptorOf(at, name)?.value as unknown;
  }
  return isObject(at) ? at : undefined;
}

function descriptorOf(value: object, name: string): PropertyDescriptor | undefined {
  for (const part of chain(value)) {
    const found = Object.getOwnPropertyDescriptor(part, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function membersOf(value: object): { text: string; type: string }[] {
  const members = new Map<string, string>();
  for (const part of chain(value)) {
    for (const name of Object.getOwnPropertyNames(part)) {
      if (!/^[a-z]\w*$/i.test(name) || name === "constructor" || members.has(name)) continue;
      const isMethod = typeof Object.getOwnPropertyDescriptor(part, name)?.value === "function";
      members.set(name, isMethod ? "method" : "property");
    }
  }
  return [...members].map(([text, type]) => ({ text, type }));
}

/** An object and its prototypes, without what all objects have. */
function* chain(value: object): Generator<object> {
  for (
    let at: object | null = value;
    at !== null;
    at = Object.getPrototypeOf(at) as object | null
  ) {
    if (at !== Object.prototype) yield at;
  }
}

const isObject = (value: unknown): value is object =>
  (typeof value === "object" && value !== null) || typeof value === "function";

// What the kernel itself is written with, and code in cells can take away: `setTimeout = undefined`,
// `Array.prototype[Symbol.iterator] = undefined`. Nothing here may need any of it.

interface Kept {
  name: string;
  owner: object;
  key: PropertyKey;
  value: unknown;
}

const { apply, defineProperty, get, getOwnPropertyDescriptor, ownKeys, set } = Reflect;

const kept: Kept[] = [];

const iteratorOf = (value: Iterable<unknown>): object =>
  Object.getPrototypeOf(value[Symbol.iterator]()) as object;

const owners: Record<string, object> = {
  Array,
  "Array.prototype": Array.prototype,
  "array iterators": iteratorOf([]),
  Atomics,
  "Function.prototype": Function.prototype,
  JSON,
  Map,
  "Map.prototype": Map.prototype,
  "map iterators": iteratorOf(new Map()),
  Number,
  Object,
  "Object.prototype": Object.prototype,
  Promise,
  "Promise.prototype": Promise.prototype,
  Reflect,
  "RegExp.prototype": RegExp.prototype,
  "Set.prototype": Set.prototype,
  "set iterators": iteratorOf(new Set()),
  String,
  "String.prototype": String.prototype,
  Symbol,
  "WeakMap.prototype": WeakMap.prototype,
};
for (const [name, owner] of Object.entries(owners)) {
  for (const key of ownKeys(owner)) {
    const value: unknown = getOwnPropertyDescriptor(owner, key)?.value;
    const shown = typeof key === "symbol" ? `[${String(key.description)}]` : `.${key}`;
    if (typeof value === "function") kept.push({ name: name + shown, owner, key, value });
  }
}
for (const key of [
  ...Object.keys(owners).filter((name) => name in globalThis),
  "AbortController",
  "Buffer",
  "Error",
  "FinalizationRegistry",
  "Set",
  "TextDecoder",
  "URL",
  "Uint8Array",
  "WeakMap",
  "clearTimeout",
  "console",
  "performance",
  "process",
  "queueMicrotask",
  "setImmediate",
  "setTimeout",
]) {
  if (key in globalThis) {
    kept.push({ name: key, owner: globalThis, key, value: get(globalThis, key) });
  }
}

const isThere = (value: unknown): boolean =>
  typeof value === "function" || (typeof value === "object" && value !== null);

/**
 * Puts back what is neither function nor object any more; what was replaced by another of its kind is
 * left: a patch is no accident. Returns the names of what was put back.
 */
function restoreIntrinsics(): string[] {
  const restored: string[] = [];
  const { length } = kept;
  for (let i = 0, count = 0; i < length; i++) {
    const { name, owner, key, value } = kept[i]!;
    if (isThere(get(owner, key))) continue;
    if (!set(owner, key, value) || !isThere(get(owner, key))) {
      defineProperty(owner, key, { value, writable: true, configurable: true });
    }
    restored[count++] = name;
  }
  return restored;
}

const { join } = Array.prototype;

/** What to tell of that; undefined where there was nothing to put back. */
export function restoredText(): string | undefined {
  const names = restoreIntrinsics();
  if (names.length === 0) return undefined;
  const list = apply(join, names, [", "]) as string;
  const which = names.length === 1 ? `${list} was` : `${list} were`;
  return `${which} taken away by this cell and put back: the kernel cannot do without.\n`;
}

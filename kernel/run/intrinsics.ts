// What the kernel itself is written with, and code in cells can replace: `setTimeout = undefined`,
// `Promise.prototype.then = …`. While the kernel works it has its own, and cells have theirs: what a cell
// replaced is put aside when it ends, and back when the next one begins. Nothing here may need any of it.

import "./function-text.js";

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

const prototypes: Record<string, object> = {};
for (const key of [
  "AbortController",
  "AbortSignal",
  "Array",
  "Atomics",
  "Buffer",
  "Date",
  "Error",
  "EventTarget",
  "FinalizationRegistry",
  "Function",
  "JSON",
  "Map",
  "MessagePort",
  "Number",
  "Object",
  "Promise",
  "Proxy",
  "Reflect",
  "RegExp",
  "Set",
  "String",
  "Symbol",
  "TextDecoder",
  "URL",
  "WeakMap",
  "WeakRef",
  "performance",
]) {
  const owner = (globalThis as Record<string, unknown>)[key] as { prototype?: object } | undefined;
  if (owner === undefined) continue;
  prototypes[key] = owner;
  if (owner.prototype !== undefined) prototypes[`${key}.prototype`] = owner.prototype;
}
const owners: Record<string, object> = {
  ...prototypes,
  "array iterators": iteratorOf([]),
  "map iterators": iteratorOf(new Map()),
  "set iterators": iteratorOf(new Set()),
  "typed arrays": Object.getPrototypeOf(Uint8Array.prototype) as object,
};
for (const [name, owner] of Object.entries(owners)) {
  for (const key of ownKeys(owner)) {
    const value: unknown = getOwnPropertyDescriptor(owner, key)?.value;
    const shown = typeof key === "symbol" ? `[${String(key.description)}]` : `.${key}`;
    if (typeof value === "function") kept.push({ name: name + shown, owner, key, value });
  }
}
for (const key of [
  ...Object.keys(owners),
  "Uint8Array",
  "clearTimeout",
  "console",
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

function put({ owner, key }: Kept, value: unknown): void {
  if (set(owner, key, value) && get(owner, key) === value) return;
  try {
    defineProperty(owner, key, { value, writable: true, configurable: true });
  } catch {
    // A cell has made it so that nobody changes it any more.
  }
}

/** What cells have replaced by another of its kind, while the kernel has its own: by place in `kept`. */
let ofCells: { at: Kept; value: unknown }[] = [];
let isKernels = true;
/** The names of what was put back and nobody has been told of. */
let restored: string[] = [];

/**
 * The kernel works. What is neither function nor object any more is put back for good; what was replaced
 * by another of its kind waits until cells run again, for a patch is no accident.
 */
export function enterKernel(): void {
  if (isKernels) return;
  isKernels = true;
  const { length } = kept;
  const patches: typeof ofCells = [];
  for (let i = 0, patched = 0; i < length; i++) {
    const at = kept[i]!;
    const value: unknown = get(at.owner, at.key);
    if (value === at.value) continue;
    if (isThere(value)) patches[patched++] = { at, value };
    else restored[restored.length] = at.name;
    put(at, at.value);
  }
  ofCells = patches;
}

/** Cells run, with all that they have patched. */
export function leaveKernel(): void {
  if (!isKernels) return;
  isKernels = false;
  const { length } = ofCells;
  for (let i = 0; i < length; i++) {
    const { at, value } = ofCells[i]!;
    if (get(at.owner, at.key) === at.value) put(at, value);
  }
  ofCells = [];
}

const { join } = Array.prototype;

/** What to tell of what was put back; undefined where there was nothing. */
export function restoredText(): string | undefined {
  const names = restored;
  if (names.length === 0) return undefined;
  restored = [];
  const list = apply(join, names, [", "]) as string;
  const which = names.length === 1 ? `${list} was` : `${list} were`;
  return `${which} taken away by this cell and put back: the kernel cannot do without.\n`;
}

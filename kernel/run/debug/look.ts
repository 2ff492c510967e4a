// A value in a line, and what is inside of it. Nothing of a value's own is called but its summary; a
// getter is read only when somebody opens it.
import type { DescribedValue } from "../../contract/debug.js";
import { isTensor, type TensorLike } from "../../display/tensor.js";
import { formatNumber } from "../../display/inspect.js";
import { summarizeValue } from "../../display/summary.js";

/** The most children that are given at once, unless it is said how many. */
const most = 1000;
/** Characters of a line. */
const width = 120;
/** A tensor with more numbers than these is not read for the sake of a line. */
const readAtOnce = 1 << 16;

interface Inside {
  values: unknown[];
  described: DescribedValue[];
}

/** A property that is computed when somebody opens it. */
class Lazy {
  constructor(
    readonly owner: object,
    readonly key: string,
    readonly read: () => unknown = () => (owner as Record<string, unknown>)[key],
  ) {}
}

/** A key and its value in a map. */
class Entry {
  constructor(
    readonly key: unknown,
    readonly value: unknown,
  ) {}
}

export function describe(name: string, value: unknown): DescribedValue {
  if (value instanceof Lazy) {
    return {
      name,
      group: "",
      type: "",
      value: "(getter: open to read)",
      named: 1,
      indexed: 0,
      lazy: true,
    };
  }
  if (value instanceof Entry) {
    const text = cut(`${short(value.key)} → ${short(value.value)}`);
    return { name, group: "", type: "entry", value: text, named: 2, indexed: 0 };
  }
  const { group, kind, text } = summarizeValue(value);
  const line = { name, group, type: kind };
  try {
    return { ...line, value: valueText(value, kind, text), ...sizes(value) };
  } catch (error) {
    return { ...line, value: `cannot be looked at: ${String(error)}`, named: 0, indexed: 0 };
  }
}

/** The variables that have a value; one that a cell stopped before has none. */
export function readable(variables: Record<string, unknown>): (readonly [string, unknown])[] {
  const found: (readonly [string, unknown])[] = [];
  for (const name of Object.keys(variables)) {
    try {
      found.push([name, variables[name]]);
    } catch {
      continue; // declared, and never come to
    }
  }
  return found;
}

export function inside(value: unknown, filter: string, start = 0, count = 0): Inside {
  if (value instanceof Lazy) return listed([["value", value.read(), undefined]]);
  if (typeof value === "function") return listed(named(value));
  if (typeof value !== "object" || value === null) return listed([]);
  const { indexed } = sizes(value);
  const all: Child[] = [];
  if (indexed > 0 && filter !== "named") {
    const end = Math.min(indexed, start + (count > 0 ? count : most));
    all.push(...elements(value, start, end));
  }
  if (filter !== "indexed" && (indexed === 0 || start === 0)) all.push(...named(value));
  return listed(all);
}

/** Sets a property, an element, or a map's value; what stands there then is returned. */
export function assign(owner: unknown, name: string, value: unknown): unknown {
  if (typeof owner !== "object" || owner === null || owner instanceof Entry) {
    throw new TypeError(`Cannot set ${name}: it must be inside of an object that can change`);
  }
  if (owner instanceof Map || owner instanceof Set) {
    throw new TypeError(
      `Cannot set ${name}: entries are set by evaluating, say map.set(key, value)`,
    );
  }
  const target = owner as Record<string, unknown>;
  if (!Reflect.set(target, name, value)) throw new TypeError(`Cannot set ${name}: it is read-only`);
  return target[name];
}

type Child = [name: string, value: unknown, access: string | undefined];

function listed(children: Child[]): Inside {
  return {
    values: children.map(([, value]) => value),
    described: children.map(([name, value, access]) => ({
      ...describe(name, value),
      ...(access !== undefined && { access }),
    })),
  };
}

function sizes(value: unknown): { named: number; indexed: number } {
  if (typeof value !== "object" || value === null) return { named: 0, indexed: 0 };
  if (Array.isArray(value)) return { named: 0, indexed: value.length };
  if (ArrayBuffer.isView(value)) {
    return { named: 0, indexed: (value as Partial<Uint8Array>).length ?? value.byteLength };
  }
  if (value instanceof Map || value instanceof Set) return { named: 0, indexed: value.size };
  return { named: isTensor(value) ? 4 : named(value).length, indexed: 0 };
}

function elements(value: object, start: number, end: number): Child[] {
  const found: Child[] = [];
  if (value instanceof Map || value instanceof Set) {
    const isMap = value instanceof Map;
    let i = 0;
    for (const [key, each] of isMap ? value : value.entries()) {
      if (i >= end) break;
      if (i++ >= start) found.push([`${i - 1}`, isMap ? new Entry(key, each) : each, undefined]);
    }
    return found;
  }
  const list = value as unknown[];
  for (let i = start; i < end; i++) found.push([`${i}`, list[i], `[${i}]`]);
  return found;
}

function named(value: object): Child[] {
  if (value instanceof Entry)
    return [
      ["key", value.key, undefined],
      ["value", value.value, undefined],
    ];
  if (isTensor(value)) return tensorParts(value);
  const found: Child[] = [];
  const seen = new Set<string>();
  const isElements = Array.isArray(value) || ArrayBuffer.isView(value);
  for (
    let at: object | null = value;
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object | null
  ) {
    const isOwn = at === value;
    // Of what a class has, what it computes; of built-in ones nothing.
    if (!isOwn && isBuiltIn(at)) break;
    for (const [key, property] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (seen.has(key) || key === "constructor" || (isElements && /^(\d+|length)$/.test(key)))
        continue;
      if ("value" in property ? !isOwn : property.get === undefined) continue;
      if (isOwn && !property.enumerable) continue;
      seen.add(key);
      const isGetter = property.get !== undefined;
      found.push([key, isGetter ? new Lazy(value, key) : property.value, accessOf(key)]);
      if (found.length >= most) return found;
    }
  }
  return found;
}

function isBuiltIn(prototype: object): boolean {
  const { constructor } = prototype as { constructor?: unknown };
  return (
    typeof constructor !== "function" ||
    /\[native code\]\s*\}$/.test(Function.prototype.toString.call(constructor))
  );
}

function tensorParts(tensor: TensorLike): Child[] {
  return [
    ["shape", tensor.shape, ".shape"],
    ["dtype", tensor.dtype, ".dtype"],
    ["size", tensor.size, ".size"],
    ["values", new Lazy(tensor, "values", () => tensor.dataSync()), ".dataSync()"],
  ];
}

const accessOf = (key: string): string =>
  /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;

function cut(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
}

function valueText(value: unknown, kind: string, text: string): string {
  if (typeof value === "function") return `${kind} ${value.name}`.trim();
  if (typeof value !== "object" || value === null) return text;
  if (isTensor(value)) return cut(`${text} ${tensorNumbers(value)}`);
  if (Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView))) {
    const list = value as unknown[];
    // A list of trees, of batches: they have their own words.
    if (Array.isArray(value) && kind !== "Array") return cut(`${kind} ${text}`);
    return cut(`${kind}(${list.length}) [${some(list.length, (i) => short(list[i]))}]`);
  }
  if (kind === "Object" || kind === "object") {
    const own = Object.entries(Object.getOwnPropertyDescriptors(value)).filter(
      ([, p]) => p.enumerable,
    );
    const part = (i: number): string =>
      `${own[i]![0]}: ${"value" in own[i]![1] ? short(own[i]![1].value) : "(getter)"}`;
    return cut(own.length === 0 ? "{}" : `{ ${some(own.length, part)} }`);
  }
  return cut(`${kind} ${text}`);
}

function some(length: number, part: (i: number) => string, shown = 8): string {
  const parts = Array.from({ length: Math.min(length, shown) }, (_, i) => part(i));
  return [...parts, ...(length > shown ? ["…"] : [])].join(", ");
}

function short(value: unknown): string {
  if (typeof value === "number") return formatNumber(value);
  if (typeof value === "function") return `ƒ ${value.name}`;
  if (typeof value === "string")
    return JSON.stringify(value.length > 24 ? `${value.slice(0, 23)}…` : value);
  if (typeof value !== "object" || value === null) return summarizeValue(value).text;
  if (Array.isArray(value)) return `Array(${value.length})`;
  return summarizeValue(value).kind;
}

function tensorNumbers(tensor: TensorLike): string {
  if (tensor.isDisposed === true) return "(disposed)";
  if (tensor.size > readAtOnce) return "";
  try {
    const data = tensor.dataSync() as ArrayLike<unknown>;
    return some(data.length, (i) => short(data[i]));
  } catch {
    return ""; // WebGPU in Node reads only asynchronously
  }
}

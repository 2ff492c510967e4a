import { isModuleNamespace } from "#platform/inspect";
import { inspectText } from "./inspect.js";

/**
 * The method by which a value says in a line what it is, and among which of a session's values it stands.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { summarySymbol } from "arpo-lab/kernel";
 *
 * const forest = { [summarySymbol]: () => ({ group: "Trees", text: "2 trees" }) };
 * assert.equal(forest[summarySymbol]().text, "2 trees"); // what the lab's list of values shows
 * ```
 */
export const summarySymbol: unique symbol = Symbol.for("arpo-lab.summary");

/** What a list of a session's values shows of one. */
export interface ValueSummary {
  /** Values of a group stand together: "Trees", "Tensors", "Functions". */
  group: string;
  /** What it is: a class, a type. */
  kind: string;
  /** What is worth knowing, in a few words. */
  text: string;
}

/**
 * A value that says in a line what it is, without any work worth speaking of.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { summarySymbol, type Summarizable } from "arpo-lab/kernel";
 *
 * class Forest implements Summarizable {
 *   [summarySymbol]() {
 *     return { group: "Trees", text: "3 trees" };
 *   }
 * }
 * assert.equal(new Forest()[summarySymbol]().text, "3 trees");
 * ```
 */
export interface Summarizable {
  [summarySymbol](): { group: string; text: string };
}

const most = 80;

function cut(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}

function isSummarizable(value: object): value is Summarizable {
  return typeof (value as Partial<Summarizable>)[summarySymbol] === "function";
}

function kindOf(value: object): string {
  const prototype = Object.getPrototypeOf(value) as { constructor?: { name?: unknown } } | null;
  const name = prototype?.constructor?.name;
  return typeof name === "string" && name !== "" ? name : "object";
}

/** A tensor of any library: it has a shape and says what its numbers are. */
function tensorText(value: object): string | undefined {
  if (ArrayBuffer.isView(value)) {
    return value instanceof DataView
      ? `${value.byteLength} bytes`
      : `${(value as Uint8Array).length} numbers`;
  }
  const { shape, dtype } = value as { shape?: unknown; dtype?: unknown };
  if (!Array.isArray(shape) || typeof dtype !== "string") return undefined;
  return `${dtype} [${shape.join(", ")}]`;
}

function ofObject(value: object): ValueSummary {
  if (isModuleNamespace(value)) return { group: "Functions", kind: "module", text: "" };
  const kind = kindOf(value);
  if (isSummarizable(value)) {
    const { group, text } = value[summarySymbol]();
    return { group, kind, text: cut(text) };
  }
  const tensor = tensorText(value);
  if (tensor !== undefined) return { group: "Tensors", kind, text: tensor };
  if (Array.isArray(value)) {
    const [first] = value as unknown[];
    const inner = typeof first === "object" && first !== null ? ofObject(first) : undefined;
    const isOwn = inner !== undefined && isSummarizable(first as object);
    if (isOwn) {
      const { group, kind: of, text } = inner;
      return {
        group,
        kind: `${of}[]`,
        text: value.length === 1 ? text : `${value.length} of them`,
      };
    }
    return { group: "Variables", kind: "Array", text: `${value.length} elements` };
  }
  if (value instanceof Map || value instanceof Set) {
    return { group: "Variables", kind, text: `${value.size} entries` };
  }
  if (value instanceof Error) return { group: "Variables", kind, text: cut(value.message) };
  if (value instanceof Promise || value instanceof Date || value instanceof RegExp) {
    return { group: "Variables", kind, text: cut(inspectText(value)) };
  }
  const keys = Object.keys(value);
  return { group: "Variables", kind, text: cut(keys.length === 0 ? "" : `{ ${keys.join(", ")} }`) };
}

/** A value in a line; never throws, and calls nothing of the value's but its own summary. */
export function summarizeValue(value: unknown): ValueSummary {
  try {
    if (typeof value === "function") {
      const isClass = /^class\b/.test(Function.prototype.toString.call(value));
      return { group: "Functions", kind: isClass ? "class" : "function", text: "" };
    }
    if (typeof value === "object" && value !== null) return ofObject(value);
    const kind = value === null ? "null" : typeof value;
    const text =
      typeof value === "string" ? JSON.stringify(value.slice(0, 200)) : inspectText(value);
    return { group: "Variables", kind, text: cut(text) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { group: "Variables", kind: "?", text: cut(`cannot be looked at: ${reason}`) };
  }
}

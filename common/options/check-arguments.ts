import { nearest } from "./nearest.js";
import { isRecord } from "./is-record.js";

/**
 * A value in few letters, for the end of an error: `got …`.
 *
 * @example
 * ```js
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual([null, 5, "x", [1], {}].map(shown), ["null", "5", '"x"', "a list", "an object"]);
 * ```
 */
export function shown(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  }
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (value instanceof Promise) return "a Promise (await it first)";
  // A field of that name may hold anything.
  const own = Object.getPrototypeOf(value) as { constructor?: { name: string } } | null;
  const { name } = own?.constructor ?? Object;
  return name === "Object" ? "an object" : `${/^[AEIOU]/.test(name) ? "an" : "a"} ${name}`;
}

/** Whether something has a method of a name. */
const does = (value: unknown, ...methods: PropertyKey[]): boolean =>
  ((typeof value === "object" && value !== null) || typeof value === "function") &&
  methods.every((name) => typeof (value as Record<PropertyKey, unknown>)[name] === "function");

const isList = (value: unknown): boolean => Array.isArray(value) || ArrayBuffer.isView(value);

/** What an argument may have to be: the words of the error, and how it is told. */
export const kinds = {
  text: ["text", (v: unknown) => typeof v === "string"],
  path: ["a path", (v: unknown) => typeof v === "string" && v !== ""],
  number: ["a number", (v: unknown) => typeof v === "number"],
  count: [
    "an integer of at least 0",
    (v: unknown) => Number.isSafeInteger(v) && (v as number) >= 0,
  ],
  boolean: ["true or false", (v: unknown) => typeof v === "boolean"],
  list: ["a list", isList],
  items: ["a list or another iterable", (v: unknown) => does(v, Symbol.iterator)],
  object: ["an object", isRecord],
  function: ["a function", (v: unknown) => typeof v === "function"],
  bytes: [
    "bytes",
    (v: unknown): v is ArrayBuffer | ArrayBufferView =>
      ArrayBuffer.isView(v) || v instanceof ArrayBuffer,
  ],
  tensor: ["a tensor", (v: unknown) => does(v, "dataSync", "dispose")],
  random: ["a Random", (v: unknown) => does(v, "uniform", "split")],
  signal: ["an AbortSignal", (v: unknown) => v instanceof AbortSignal],
  tokenizer: ["a tokenizer", (v: unknown) => does(v, "encode", "decode")],
  model: ["a Model", (v: unknown) => has(v, "weights", "config")],
  policy: ["a policy", (v: unknown) => does(v, "session") && has(v, "tokenizer")],
  reward: [
    "a function or a groupReward",
    (v: unknown) => typeof v === "function" || (has(v, "over") && does(v, "judge")),
  ],
  tools: ["a ToolSet (new ToolSet([...]))", (v: unknown) => does(v, "call", "add")],
  tree: ["a rollout tree", (v: unknown) => has(v, "task", "nodes", "trajectories", "config")],
  run: ["a run or a list of its metrics", (v: unknown) => isList(v) || has(v, "steps")],
  trajectory: ["a trajectory", (v: unknown) => has(v, "tokens", "toolCalls")],
} as const satisfies Record<string, readonly [string, (value: unknown) => boolean]>;

function has(value: unknown, ...names: string[]): boolean {
  return typeof value === "object" && value !== null && names.every((name) => name in value);
}

export type KindName = keyof typeof kinds;

/** What an argument must be. With `?` it may be left out. */
export type ArgumentKind = KindName | `${KindName}?`;

/** Rules for arguments by name; for an object, rules for its fields. */
type ArgumentRules<T> = {
  readonly [K in keyof T]:
    ArgumentKind | { readonly [F in Exclude<keyof NonNullable<T[K]>, "toString">]?: ArgumentKind };
};

/**
 * Refuses arguments of another kind than they must be, in the words of the function that got them:
 * TypeScript tells who writes TypeScript, this tells everyone else. What a number or a text must say
 * beyond its kind is for the function itself.
 *
 * @throws TypeError `Cannot ACTION: NAME must be KIND, got VALUE`.
 *
 * @example
 * ```js
 * import assert from "node:assert/strict";
 *
 * function shout(text: string, options: { times?: number } = {}): string {
 *   checkArguments("shout", { text, options }, { text: "text", options: { times: "number?" } });
 *   return text.toUpperCase().repeat(options.times ?? 1);
 * }
 * assert.equal(shout("hey", { times: 2 }), "HEYHEY");
 * assert.throws(() => shout(5 as never), /^TypeError: Cannot shout: text must be text, got 5$/);
 * assert.throws(() => shout("hey", { times: "2" } as never), /times must be a number, got "2"/);
 * ```
 */
export function checkArguments<T extends object>(
  action: string,
  given: T,
  rules: ArgumentRules<T>,
): void {
  for (const name of Object.keys(rules) as (keyof T & string)[]) {
    const rule = rules[name];
    if (typeof rule === "string") checkOne(action, name, given[name], rule);
    else {
      checkOne(action, name, given[name], "object");
      for (const [field, kind] of Object.entries(rule as Record<string, ArgumentKind>)) {
        checkOne(action, field, (given[name] as Record<string, unknown>)[field], kind);
      }
    }
  }
}

function checkOne(action: string, name: string, value: unknown, rule: ArgumentKind): void {
  const optional = rule.endsWith("?");
  if (optional && value === undefined) return;
  const [words, fits] = kinds[(optional ? rule.slice(0, -1) : rule) as KindName];
  if (fits(value)) return;
  throw new TypeError(`Cannot ${action}: ${name} must be ${words}, got ${shown(value)}`);
}

/**
 * The entry of a table that an option names.
 *
 * @throws RangeError that says the names there are, and the nearest one.
 *
 * @example
 * ```js
 * import assert from "node:assert/strict";
 *
 * const sizes = { small: 1, large: 100 };
 * assert.equal(named("grow", "size", "small", sizes), 1);
 * assert.throws(() => named("grow", "size", "smal", sizes), /one of small, large, got "smal"; did you mean "small"\?$/);
 * ```
 */
export function named<T>(
  action: string,
  option: string,
  name: unknown,
  table: Readonly<Record<string, T>>,
): T {
  if (typeof name === "string" && Object.hasOwn(table, name)) return table[name]!;
  const near = typeof name === "string" ? nearest(name, Object.keys(table)) : undefined;
  throw new RangeError(
    `Cannot ${action}: ${option} must be one of ${Object.keys(table).join(", ")}, got ${shown(name)}${near === undefined ? "" : `; did you mean "${near}"?`}`,
  );
}

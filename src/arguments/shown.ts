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
  const { name } = (value.constructor ?? Object) as { name: string };
  return name === "Object" ? "an object" : `${/^[AEIOU]/.test(name) ? "an" : "a"} ${name}`;
}

import { nearest } from "../../spelling/nearest.js";
import { shown } from "./shown.js";

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

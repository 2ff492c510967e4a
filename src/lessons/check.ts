import { checkArguments } from "../arguments/check-arguments.js";
import { formatValue } from "./format-value.js";
import { right, Verdict, wrong } from "./verdict.js";

/** Thrown by a check that finds nothing to judge: a function whose body is still to be written. */
export class Unanswered extends Error {}

/**
 * Whether two values agree: numbers to a relative 1e-6 (and -0 is 0), the rest item by item.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { agree } from "arpo-lab/internal/lessons";
 *
 * assert.ok(agree([1 / 3, 0], new Float32Array([0.333333333, -0])));
 * assert.ok(!agree([1, 2], [2, 1]));
 * ```
 */
export function agree(given: unknown, wanted: unknown, tolerance = 1e-6): boolean {
  if (typeof given === "number" && typeof wanted === "number") {
    if (given === wanted) return true;
    return Math.abs(given - wanted) <= tolerance * Math.max(1, Math.abs(wanted));
  }
  const [a, b] = [listOf(given), listOf(wanted)];
  if (a && b) return a.length === b.length && a.every((value, i) => agree(value, b[i], tolerance));
  return given === wanted;
}

function listOf(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value as unknown[];
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return Array.from(value as Float64Array);
  }
  return undefined;
}

/**
 * Judges a value: right if it agrees with what is wanted; else `off` may know what went wrong.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { checkValue } from "arpo-lab/internal/lessons";
 *
 * assert.equal(checkValue(0.5, 0.5, { because: "half." }).state, "right");
 * assert.match(checkValue(2, 0.5, { because: "half." }).message, /^you gave 2/);
 * ```
 */
export function checkValue<T>(
  given: T,
  wanted: T,
  words: { because: string; off?: (given: T) => string | undefined; tolerance?: number },
): Verdict {
  checkArguments("check a value", { words }, { words: "object" });
  if (agree(given, wanted, words.tolerance)) return right(words.because);
  const off = words.off?.(given);
  return wrong(`you gave ${formatValue(given)}${off ? `; ${off}` : ", and that is not it."}`);
}

/**
 * Calls a function of the learner's; one that gives nothing is not written yet. It gets copies: a
 * function that sorts its argument in place must not change what it is judged by.
 */
export function ask<A extends unknown[], R>(call: (...args: A) => R, ...args: A): R {
  const found = call(...structuredClone(args));
  if (found === undefined) throw new Unanswered("the function gives nothing yet");
  return found;
}

/**
 * Judges a function by what it gives for some arguments, and names the first that differs.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { checkFunction } from "arpo-lab/internal/lessons";
 *
 * const square = (x: number) => 2 * x;
 * const verdict = checkFunction(square, [[[2], 4], [[3], 9]], { because: "it is x times x." });
 * assert.equal(verdict.message, "for (3) it gives 6, but should give 9.");
 * ```
 */
export function checkFunction<A extends unknown[], R>(
  given: (...args: A) => R,
  cases: readonly (readonly [args: A, wanted: R])[],
  words: {
    because: string;
    off?: (args: A, found: R, wanted: R) => string | undefined;
    tolerance?: number;
  },
): Verdict {
  checkArguments(
    "check a function",
    { given, cases, words },
    { given: "function", cases: "list", words: "object" },
  );
  for (const [args, wanted] of cases) {
    const found = ask(given, ...args);
    if (agree(found, wanted, words.tolerance)) continue;
    const comparable = listOf(found) !== undefined || listOf(wanted) === undefined;
    const off = comparable ? words.off?.(args, found, wanted) : "A list is wanted.";
    const call = `(${args.map((arg) => formatValue(arg)).join(", ")})`;
    return wrong(
      `for ${call} it gives ${formatValue(found)}, but should give ${formatValue(wanted)}.${off ? ` ${off}` : ""}`,
    );
  }
  return right(words.because);
}

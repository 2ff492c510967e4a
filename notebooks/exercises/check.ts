import { formatValue } from "./format-value.js";
import { right, Verdict, wrong } from "./verdict.js";

/** Thrown by a check that finds nothing to judge: a function whose body is still to be written. */
export class Unanswered extends Error {}

/**
 * Whether two values agree: numbers to a relative 1e-6 (and -0 is 0), the rest item by item.
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
 */
export function checkValue<T>(
  given: T,
  wanted: T,
  words: { because: string; off?: (given: T) => string | undefined; tolerance?: number },
): Verdict {
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

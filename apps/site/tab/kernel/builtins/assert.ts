import { inspect } from "../../../../../common/platform/browser/inspect.js";

type Pair = [unknown, unknown];

const ownKeys = (value: object): PropertyKey[] =>
  Reflect.ownKeys(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key));

/** Whether two values are the same all the way down, prototypes included; circles end. */
export function same(one: unknown, other: unknown, open: readonly Pair[] = []): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== "object" || typeof other !== "object" || !one || !other) return false;
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
  if (open.some(([a, b]) => a === one && b === other)) return true;
  const within: readonly Pair[] = [...open, [one, other]];
  const inside = (a: unknown, b: unknown) => same(a, b, within);
  if (one instanceof Date) return one.getTime() === (other as Date).getTime();
  if (one instanceof RegExp) return String(one) === String(other);
  if (one instanceof Error) {
    if (one.message !== (other as Error).message || one.name !== (other as Error).name)
      return false;
  }
  if (ArrayBuffer.isView(one) && !(one instanceof DataView)) {
    const [a, b] = [one as Float64Array, other as Float64Array];
    return a.length === b.length && a.every((value, i) => Object.is(value, b[i]));
  }
  if (one instanceof Map) {
    const map = other as Map<unknown, unknown>;
    return (
      one.size === map.size &&
      [...one].every(([key, value]) =>
        map.has(key)
          ? inside(value, map.get(key))
          : [...map].some(([k, v]) => inside(key, k) && inside(value, v)),
      )
    );
  }
  if (one instanceof Set) {
    const set = other as Set<unknown>;
    return (
      one.size === set.size &&
      [...one].every((value) => set.has(value) || [...set].some((each) => inside(value, each)))
    );
  }
  if (Array.isArray(one) && one.length !== (other as unknown[]).length) return false;
  const [keys, others] = [ownKeys(one), new Set(ownKeys(other))];
  return (
    keys.length === others.size &&
    keys.every((key) => others.has(key) && inside(Reflect.get(one, key), Reflect.get(other, key)))
  );
}

// `node:assert/strict` as notebooks use it.

/** What a check throws that does not hold. */
export class AssertionError extends Error {
  override name = "AssertionError";
  readonly code = "ERR_ASSERTION";
  constructor(
    message: string,
    readonly actual?: unknown,
    readonly expected?: unknown,
  ) {
    super(message);
  }
}

const show = (value: unknown): string => inspect(value, { depth: 4 });

function check(
  holds: boolean,
  message: string | Error | undefined,
  otherwise: () => string,
  actual?: unknown,
  expected?: unknown,
): asserts holds {
  if (holds) return;
  if (message instanceof Error) throw message;
  throw new AssertionError(message ?? otherwise(), actual, expected);
}

type Message = string | Error;
const both = (rule: string, actual: unknown, expected: unknown) => () =>
  `${rule}\n\n${show(actual)}\n\nshould be\n\n${show(expected)}`;

export function ok(value: unknown, message?: Message): void {
  check(Boolean(value), message, () => `Expected a truthy value, got ${show(value)}`, value, true);
}
export function equal(actual: unknown, expected: unknown, message?: Message): void {
  const why = both("Expected values to be strictly equal:", actual, expected);
  check(Object.is(actual, expected), message, why, actual, expected);
}
export function notEqual(actual: unknown, expected: unknown, message?: Message): void {
  check(!Object.is(actual, expected), message, () => `Expected another value than ${show(actual)}`);
}
export function deepEqual(actual: unknown, expected: unknown, message?: Message): void {
  const why = both("Expected values to be strictly deep-equal:", actual, expected);
  check(same(actual, expected), message, why, actual, expected);
}
export function notDeepEqual(actual: unknown, expected: unknown, message?: Message): void {
  check(!same(actual, expected), message, () => `Expected another value than ${show(actual)}`);
}
export function match(text: string, pattern: RegExp, message?: Message): void {
  check(pattern.test(text), message, () => `Expected ${pattern} to match ${show(text)}`);
}
export function doesNotMatch(text: string, pattern: RegExp, message?: Message): void {
  check(!pattern.test(text), message, () => `Expected ${pattern} not to match ${show(text)}`);
}
export function fail(message: Message = "Failed"): never {
  throw message instanceof Error ? message : new AssertionError(message);
}

type Expected =
  RegExp | (new (...args: never[]) => unknown) | ((error: unknown) => boolean) | object;

/** Whether an error is the one that was expected. */
function checkError(error: unknown, expected: Expected | string | undefined): void {
  if (expected === undefined || typeof expected === "string") return;
  if (expected instanceof RegExp) return match(String(error), expected);
  if (typeof expected !== "function") {
    for (const [key, value] of Object.entries(expected)) {
      const actual = (error as Record<string, unknown>)[key];
      if (value instanceof RegExp) match(String(actual), value);
      else deepEqual(actual, value);
    }
    return;
  }
  if (expected.prototype !== undefined && error instanceof expected) return;
  if (Error.prototype.isPrototypeOf((expected.prototype ?? {}) as object)) throw error;
  ok((expected as (error: unknown) => boolean)(error));
}

export function throws(call: () => unknown, expected?: Expected | string): void {
  let error: unknown;
  try {
    call();
  } catch (caught) {
    return checkError(caught, expected);
  }
  throw new AssertionError("Missing expected exception.", error);
}
export function doesNotThrow(call: () => unknown): void {
  call();
}
export async function rejects(
  promise: Promise<unknown> | (() => Promise<unknown>),
  expected?: Expected | string,
): Promise<void> {
  try {
    await (typeof promise === "function" ? promise() : promise);
  } catch (caught) {
    return checkError(caught, expected);
  }
  throw new AssertionError("Missing expected rejection.");
}
export async function doesNotReject(
  promise: Promise<unknown> | (() => Promise<unknown>),
): Promise<void> {
  await (typeof promise === "function" ? promise() : promise);
}

export { equal as strictEqual, notEqual as notStrictEqual, deepEqual as deepStrictEqual };

const assert = Object.assign(
  (value: unknown, message?: Message): void => ok(value, message),
  { AssertionError, ok, equal, notEqual, deepEqual, notDeepEqual, match, doesNotMatch, fail },
  { throws, doesNotThrow, rejects, doesNotReject },
  { strictEqual: equal, notStrictEqual: notEqual, deepStrictEqual: deepEqual },
);
export default Object.assign(assert, { strict: assert });

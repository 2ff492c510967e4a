import { inspectText } from "./inspect.js";

/** How an error is written down. */
export interface ErrorTextOptions {
  /** Rewrites one line of the stack (to name a cell), or drops it by returning undefined. */
  frame?: (line: string) => string | undefined;
  /** How many causes and aggregated errors deep. */
  depth?: number;
}

const internalFrame = /\(node:internal\/|at node:internal\/|\/kernel\/(session|display|wire)\//;

/** The stack's frames, without Node's and the kernel's own. */
function framesOf(error: Error, frame: ErrorTextOptions["frame"]): string[] {
  const stack = typeof error.stack === "string" ? error.stack : "";
  return stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line) && !internalFrame.test(line))
    .map((line) => (frame === undefined ? line : frame(line)))
    .filter((line) => line !== undefined);
}

/** Own fields that say more than the message: code, path, status and the like. */
function fieldsOf(error: Error): string[] {
  const usual = new Set(["name", "message", "stack", "cause", "errors"]);
  const entries = Object.entries(error).filter(([key]) => !usual.has(key));
  return entries.map(
    ([key, value]) => `    ${key}: ${inspectText(value, { depth: 1, line: true, limit: 500 })}`,
  );
}

/**
 * An error as a person reads it: name and message, where it happened, what else it carries, what
 * caused it, and each error of an AggregateError.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { errorText } from "arpo-lab/kernel";
 *
 * const error = new Error("cannot load", { cause: new TypeError("no such file") });
 * assert.match(errorText(error), /^Error: cannot load\n[^]*Caused by TypeError: no such file/);
 * ```
 */
export function errorText(
  thrown: unknown,
  options: ErrorTextOptions = {},
  seen = new Set<unknown>(),
): string {
  if (!(thrown instanceof Error) && !isErrorLike(thrown)) return inspectText(thrown);
  if (seen.has(thrown)) return `${thrown.name}: ${thrown.message} (shown above)`;
  seen.add(thrown);
  const depth = options.depth ?? 5;
  const lines = [
    `${thrown.name}: ${thrown.message}`,
    ...framesOf(thrown, options.frame),
    ...fieldsOf(thrown),
  ];
  const inner = { ...options, depth: depth - 1 };
  const nested = (error: unknown): string => errorText(error, inner, seen).replace(/\n/g, "\n  ");
  if (depth > 0) {
    const errors: unknown = (thrown as { errors?: unknown }).errors;
    if (Array.isArray(errors)) {
      errors.slice(0, 20).forEach((error, i) => lines.push(`  [${i}] ${nested(error)}`));
      if (errors.length > 20) lines.push(`  … ${errors.length - 20} more errors`);
    }
    if (thrown.cause !== undefined) lines.push(`Caused by ${nested(thrown.cause)}`);
  }
  return lines.join("\n");
}

/** True for an error of another realm, which `instanceof` does not know. */
export function isErrorLike(value: unknown): value is Error {
  return Object.prototype.toString.call(value) === "[object Error]";
}

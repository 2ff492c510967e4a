import { currentHost } from "../host/host.js";
import { inspectText } from "./inspect.js";

const internalFrame = /\(node:|at node:/;

/** The stack's frames: in the words of cells inside a kernel, without Node's own anywhere. */
function framesOf(error: Error): string[] {
  const host = currentHost();
  if (host !== undefined) return host.frames(error);
  const stack = typeof error.stack === "string" ? error.stack : "";
  return stack.split("\n").filter((line) => /^\s+at /.test(line) && !internalFrame.test(line));
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
 */
export function errorText(thrown: unknown, depth = 5, seen = new Set<unknown>()): string {
  if (!(thrown instanceof Error) && !isErrorLike(thrown)) return inspectText(thrown);
  if (seen.has(thrown)) return `${thrown.name}: ${thrown.message} (shown above)`;
  seen.add(thrown);
  const lines = [`${thrown.name}: ${thrown.message}`, ...framesOf(thrown), ...fieldsOf(thrown)];
  const nested = (error: unknown): string =>
    errorText(error, depth - 1, seen).replace(/\n/g, "\n  ");
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

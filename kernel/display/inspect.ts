import { inspect, isProxy } from "#platform/inspect";
import { formatNumber } from "../../common/picture/scale.js";

export { formatNumber };

/** The most characters a value's text may have; more is cut with a notice. */
const textLimit = 100_000;
const nodeBudget = 3000;
const breadth = 100;

function first<T>(values: Iterable<T>): T[] {
  const found: T[] = [];
  for (const value of values) if (found.push(value) === breadth) break;
  return found;
}

/** The values directly inside a container, at most `breadth`; getters are not called. */
function children(value: object): unknown[] {
  if (ArrayBuffer.isView(value)) return [];
  if (Array.isArray(value)) return value.slice(0, breadth);
  if (value instanceof Map) return first(value.entries()).flat();
  if (value instanceof Set) return first(value);
  const out: unknown[] = [];
  for (const key of Object.keys(value)) {
    const property = Object.getOwnPropertyDescriptor(value, key);
    if (property !== undefined && "value" in property) out.push(property.value);
    if (out.length >= nodeBudget) break;
  }
  return out;
}

/** How deep `inspect` may go so that it prints about `nodeBudget` values at most. */
function affordableDepth(value: unknown): number {
  let level: object[] = typeof value === "object" && value !== null ? [value] : [];
  const seen = new Set<object>();
  let count = 0;
  let depth = -1;
  while (level.length > 0 && depth < 8) {
    const next: object[] = [];
    for (const item of level) {
      if (seen.has(item)) continue;
      seen.add(item);
      let inside: unknown[];
      try {
        inside = children(item);
      } catch {
        continue; // a hostile proxy: inspect looks behind it
      }
      count += inside.length;
      if (count > nodeBudget) return Math.max(depth, 0);
      for (const child of inside) {
        if (typeof child === "object" && child !== null) next.push(child);
      }
    }
    depth++;
    level = next;
  }
  return Math.max(depth, 0);
}

// What async_hooks writes on every promise while it is on: noise to whoever looks at one.
const hookNoise = /,?\s*\[Symbol\((?:trigger_)?async_id_symbol\)\]: \d+/g;

/** Cuts long text, saying how much was left out. */
export function bound(text: string, limit = textLimit): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit)}\n… ${text.length - limit} more characters`;
}

/** An object of very many keys with the first of them: `inspect` knows no bound for them. */
function fewerKeys(value: unknown): { shown: unknown; left: number } {
  if (typeof value !== "object" || value === null || isProxy(value))
    return { shown: value, left: 0 };
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return { shown: value, left: 0 };
  const keys = Object.keys(value);
  if (keys.length <= nodeBudget) return { shown: value, left: 0 };
  const shown = Object.create(prototype) as object;
  for (const key of keys.slice(0, nodeBudget)) {
    Object.defineProperty(shown, key, Object.getOwnPropertyDescriptor(value, key)!);
  }
  return { shown, left: keys.length - nodeBudget };
}

/** Any value as text that a person reads: circular and huge values end, hostile ones are named. */
export function inspectText(
  value: unknown,
  options: { depth?: number; limit?: number; line?: boolean } = {},
): string {
  const limit = options.limit ?? textLimit;
  try {
    const { shown, left } = fewerKeys(value);
    const whole = inspect(shown, {
      depth: options.depth ?? affordableDepth(shown),
      maxArrayLength: breadth,
      maxStringLength: Math.max(0, limit - 100), // room for its own notice
      breakLength: options.line === true ? Infinity : 80,
    });
    const text = left === 0 ? whole : `${whole}\n… ${left} more keys`;
    return bound(value instanceof Promise ? text.replace(hookNoise, "") : text, limit);
  } catch (error) {
    // A value's own inspect method or getter threw; say so rather than fail to show anything.
    const reason = error instanceof Error ? error.message : String(error);
    return `[${typeof value} that cannot be inspected: ${bound(reason, 200)}]`;
  }
}

/** A value as one short line, for a table's cell. */
export function inspectShort(value: unknown, limit = 80): string {
  const text =
    typeof value === "string"
      ? value
      : typeof value === "number"
        ? formatNumber(value)
        : inspectText(value, { depth: 1, line: true, limit: 10 * limit });
  const line = text.replace(/\s+/g, " ");
  return line.length <= limit ? line : `${line.slice(0, limit - 1)}…`;
}

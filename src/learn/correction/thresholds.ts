import { shown } from "../../arguments/shown.js";

/** A bound, or two as text: `2`, `"2"`, `"0.5_2"`. */
export type Threshold = number | string;

/** What a threshold says. */
export interface Bounds {
  lower: number | undefined;
  upper: number;
}

/** Whether a text says a bound, or two. */
export function isBounds(text: string): boolean {
  return read(text) !== undefined;
}

function read(threshold: Threshold): Bounds | undefined {
  const parts = typeof threshold === "string" ? threshold.trim().split("_") : [threshold];
  const numbers = parts.map((part) =>
    typeof part === "string" && part.trim() === "" ? NaN : Number(part),
  );
  const upper = numbers.at(-1);
  const lower = numbers.length === 2 ? numbers[0] : undefined;
  const holds =
    typeof threshold !== "boolean" &&
    numbers.length <= 2 &&
    numbers.every((x) => x > 0) &&
    upper !== undefined &&
    (lower ?? 0) <= upper;
  return holds ? { lower, upper } : undefined;
}

/** Reads `2`, `"2"` or `"0.5_2"`. */
export function parseBounds(name: string, threshold: Threshold): Bounds {
  const bounds = read(threshold);
  if (!bounds) {
    throw new RangeError(
      `Cannot correct a rollout: ${name} must be a number above 0, or two as "lower_upper", got ${shown(threshold)}`,
    );
  }
  return bounds;
}

import { checkArguments } from "../../../common/options/check-arguments.js";

/** A mean over questions with its 95% interval. */
export interface Interval {
  value: number;
  low: number;
  high: number;
}

const z = 1.959964;

/**
 * The mean of values from 0 to 1, one per question, with Wilson's 95% interval.
 *
 * Wilson's interval is made for right-or-wrong values. For values in between (an F1, a pass@k of several
 * samples) it is conservative, because no values in [0, 1] vary more than right-or-wrong ones. It never
 * shrinks to a point when every question has the same value.
 *
 * @param values one value from 0 to 1 per question
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { meanInterval } from "arpo-lab/run";
 *
 * const { value, low, high } = meanInterval([1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
 * assert.deepEqual([value, low.toFixed(3), high], [1, "0.722", 1]);
 * ```
 */
export function meanInterval(values: readonly number[]): Interval {
  checkArguments("find an interval", { values }, { values: "list" });
  const n = values.length;
  if (n === 0) return { value: NaN, low: 0, high: 1 };
  if (!values.every((value) => value >= 0 && value <= 1)) {
    throw new RangeError(
      `Cannot give an interval: values must be from 0 to 1, got ${values.find((v) => !(v >= 0 && v <= 1))}`,
    );
  }
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const middle = (mean + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = (z / (1 + (z * z) / n)) * Math.sqrt((mean * (1 - mean)) / n + (z * z) / (4 * n * n));
  return {
    value: mean,
    low: Math.max(0, Math.min(mean, middle - half)),
    high: Math.min(1, Math.max(mean, middle + half)),
  };
}

// Student's t at 97.5%, by degrees of freedom.
const student = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145,
  2.131, 2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048,
  2.045,
];

/** The mean of some numbers and half the width of its 95% confidence interval; NaN for one number. */
export function studentInterval(values: readonly number[]): { mean: number; half: number } {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n < 2) return { mean, half: NaN };
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  return { mean, half: (student[n - 2] ?? 1.96) * Math.sqrt(variance / n) };
}

/** The mean of scores with its 95% interval: Wilson's where all are from 0 to 1, otherwise Student's. */
export function scoreInterval(scores: readonly number[]): Interval {
  if (scores.every((value) => value >= 0 && value <= 1)) return meanInterval(scores);
  const { mean, half } = studentInterval(scores);
  return { value: mean, low: mean - half, high: mean + half };
}

/** Where a mean of scores or shares can be: from 0 to 1, or as far as one was seen. */
export const rangeSeen = (seen: readonly number[]): [low: number, high: number] =>
  seen.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [0, 1]);

import { shown } from "../../arguments/shown.js";
import { parseBounds, type Threshold } from "./thresholds.js";

/**
 * What a rollout may be tested by: k1 = -r, k2 = r² / 2, k3 = e^r - 1 - r of the log ratio r, of a token
 * or of a row.
 */
export const rejectionTests = [
  "token_k1",
  "token_k2",
  "token_k3",
  "seq_sum_k1",
  "seq_sum_k2",
  "seq_sum_k3",
  "seq_mean_k1",
  "seq_mean_k2",
  "seq_mean_k3",
  "seq_max_k2",
  "seq_max_k3",
] as const;
export type RejectionTest = (typeof rejectionTests)[number];

/** How tokens and rows that fit the policy too badly are left out. */
export interface RejectionOptions {
  /** One of `rejectionTests`, or several with commas: all must pass. */
  reject: string;
  /**
   * One for all tests, or one each with commas. For k1 `"lower_upper"`, the bounds of p / p_sampler, or
   * the upper one alone; for k2 and k3 the greatest value that passes.
   */
  rejectThreshold: Threshold;
  /** As verl: k1's bounds are those of p_sampler / p, the inverse of the weights' ratio. Default: off. */
  inverseK1?: boolean;
}

const listed = (text: string): string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** The tests that are asked for, once each, with the bounds of their statistic. */
export function readTests({ reject, rejectThreshold, inverseK1 = false }: RejectionOptions) {
  const tests = [...new Set(listed(reject))];
  for (const test of tests) {
    if ((rejectionTests as readonly string[]).includes(test)) continue;
    throw new RangeError(
      `Cannot correct a rollout: reject must name tests of ${rejectionTests.join(", ")}, got ${shown(test)}`,
    );
  }
  const thresholds =
    typeof rejectThreshold === "string" ? listed(rejectThreshold) : [rejectThreshold];
  if (tests.length === 0 || (thresholds.length !== 1 && thresholds.length !== tests.length)) {
    throw new RangeError(
      `Cannot correct a rollout: rejectThreshold must have one bound for all tests or one for each of ${tests.length}, got ${shown(rejectThreshold)}`,
    );
  }
  return tests.map((test, i) => {
    const { lower, upper } = parseBounds("rejectThreshold", thresholds[i] ?? thresholds[0]!);
    const name = test as RejectionTest;
    if (!test.endsWith("k1")) {
      if (lower === undefined) return { name, upper };
      throw new RangeError(
        `Cannot correct a rollout: rejectThreshold of ${test} must be one bound, got ${shown(rejectThreshold)}`,
      );
    }
    const [low, high] = [Math.log(lower ?? 1 / upper), Math.log(upper)];
    return inverseK1 ? { name, lower: low, upper: high } : { name, lower: -high, upper: -low };
  });
}

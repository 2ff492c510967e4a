import { shown } from "../../../common/options/check-arguments.js";
import type { Rows } from "../masked.js";
import {
  type Figures,
  type LogRatios,
  bounded,
  greatest,
  refuseEmpty,
  sequenceCount,
  sequenceMean,
  sequenceSum,
  tokenMean,
  clamp,
  deviation,
  least,
  share,
  tokenDeviation,
} from "./figures.js";
import { mean } from "../../base/statistics.js";

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

/**
 * What a rollout may be tested by: k1 = -r, k2 = r² / 2, k3 = e^r - 1 - r of the log ratio r, of a token
 * or of a sequence.
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

/** How tokens and sequences that fit the policy too badly are left out. */
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

/** A token's divergence by one estimator. */
const divergences: Record<string, (r: number) => number> = {
  k1: (r) => -r,
  k2: (r) => r ** 2 / 2,
  k3: (r) => Math.exp(r) - 1 - r,
};

/** A sequence's statistic on all of its tokens, or each token's own. */
function statistic(name: RejectionTest, { logRatio, mask }: LogRatios) {
  const divergence = divergences[name.slice(-2)]!;
  const tokens = mask.map((sequence, i) =>
    Float64Array.from(sequence, (m, t) => (m ? divergence(bounded(logRatio[i]![t]!)) : 0)),
  );
  if (name.startsWith("token")) return { tokens };
  const sequences = tokens.map((sequence, i) => {
    const own = mask[i]!;
    if (name.startsWith("seq_sum")) return sequenceSum(sequence, own);
    if (name.startsWith("seq_mean")) return sequenceMean(sequence, own);
    return sequenceCount(own) === 0 ? 0 : greatest([...sequence].filter((_, t) => own[t]));
  });
  return {
    tokens: mask.map((sequence, i) => new Float64Array(sequence.length).fill(sequences[i]!)),
    rows: sequences,
  };
}

/**
 * Leaves out tokens, or whole sequences, that the policy that trains finds too likely or too unlikely beside
 * the one that sampled them: the mask that is left. A sequence's statistic rejects all of its tokens.
 */
export function rejectionMask(
  input: LogRatios,
  options: RejectionOptions,
): { mask: Float64Array[]; metrics: Figures } {
  const { mask } = input;
  const tests = readTests(options);
  refuseEmpty(mask);
  const results = tests.map(({ name, lower, upper }): TestResult => {
    const { tokens, rows: sequences } = statistic(name, input);
    const passes = (x: number) => x <= upper && x >= (lower ?? -Infinity);
    const keep = tokens.map((sequence) => sequence.map((x) => Number(passes(x))));
    return { name, lower, upper, tokens, rows: sequences, keep };
  });
  const left = mask.map((sequence, i) =>
    Float64Array.from(sequence, (m, t) => (results.every(({ keep }) => keep[i]![t]) ? m : 0)),
  );
  const metrics: Figures = Object.assign({}, ...results.map((r) => rejectionMetrics(r, mask)));
  return {
    mask: left,
    metrics: {
      ...metrics,
      rollout_rs_masked_fraction: tokenMean(mask, (i, t) => 1 - left[i]![t]!),
      rollout_rs_seq_masked_fraction: rejectedSequences(left, mask).length / mask.length,
    },
  };
}

/** The sequences that lost a token. */
function rejectedSequences(left: readonly Float64Array[], mask: Rows): Float64Array[] {
  return left.filter((sequence, i) => sequenceCount(sequence) < sequenceCount(mask[i]!));
}

/** What one test found. */
interface TestResult {
  name: RejectionTest;
  /** Bounds of the statistic; k1 alone has a lower one. */
  lower: number | undefined;
  upper: number;
  /** The statistic on each token: a sequence's on all of them. */
  tokens: readonly Float64Array[];
  /** The statistic of each sequence, where the test is about sequences. */
  rows: readonly number[] | undefined;
  /** 1 where a token passes. */
  keep: readonly Float64Array[];
}

/** What a test found, under the reference's names. */
function rejectionMetrics(test: TestResult, mask: Rows): Record<string, number> {
  const { tokens, upper, lower, keep } = test;
  const prefix = `rollout_rs_${test.name}`;
  const valid = mask.flatMap((sequence, i) => (sequenceCount(sequence) > 0 ? [i] : []));
  const sequences = valid.map((i) => test.rows?.[i] ?? sequenceMean(tokens[i]!, mask[i]!));
  const own = test.rows
    ? sequences
    : tokens.flatMap((sequence, i) => [...sequence].filter((_, t) => mask[i]![t]));
  const fraction = (is: (x: number) => boolean) =>
    test.rows ? share(sequences, is) : tokenMean(mask, (i, t) => Number(is(tokens[i]![t]!)));
  const high = (x: number) => x > upper;
  const low = (x: number) => lower !== undefined && x < lower;
  const rejected = valid.filter((i) =>
    keep[i]!.some((passes, t) => mask[i]![t] !== 0 && passes === 0),
  );
  const figures = {
    mean: tokenMean(mask, (i, t) => tokens[i]![t]!),
    max: greatest(own),
    min: least(own),
    fraction_high: fraction(high),
    fraction_low: fraction(low),
    std: tokenDeviation(mask, (i, t) => clamp(tokens[i]![t]!, lower ?? 0, upper)),
    seq_mean: mean(sequences),
    seq_std: deviation(sequences),
    seq_max: greatest(sequences),
    seq_min: least(sequences),
    seq_max_deviation: greatest(sequences.map(Math.abs)),
    seq_fraction_high: share(sequences, high),
    ...(lower === undefined ? {} : { seq_fraction_low: share(sequences, low) }),
    masked_fraction: tokenMean(mask, (i, t) => 1 - keep[i]![t]!),
    seq_masked_fraction: rejected.length / valid.length,
  };
  return Object.fromEntries(Object.entries(figures).map(([key, v]) => [`${prefix}_${key}`, v]));
}

import type { Rows } from "../advantage/masked.js";
import type { RejectionTest } from "./rejection-tests.js";
import {
  clamp,
  deviation,
  greatest,
  least,
  mean,
  rowCount,
  rowMean,
  share,
  tokenDeviation,
  tokenMean,
} from "./masked-figures.js";

/** What one test found. */
export interface TestResult {
  name: RejectionTest;
  /** Bounds of the statistic; k1 alone has a lower one. */
  lower: number | undefined;
  upper: number;
  /** The statistic on each token: a row's on all of them. */
  tokens: readonly Float64Array[];
  /** The statistic of each row, where the test is about rows. */
  rows: readonly number[] | undefined;
  /** 1 where a token passes. */
  keep: readonly Float64Array[];
}

/** What a test found, under the reference's names. */
export function rejectionMetrics(test: TestResult, mask: Rows): Record<string, number> {
  const { tokens, upper, lower, keep } = test;
  const prefix = `rollout_rs_${test.name}`;
  const valid = mask.flatMap((row, i) => (rowCount(row) > 0 ? [i] : []));
  const rows = valid.map((i) => test.rows?.[i] ?? rowMean(tokens[i]!, mask[i]!));
  const own = test.rows ? rows : tokens.flatMap((row, i) => [...row].filter((_, t) => mask[i]![t]));
  const fraction = (is: (x: number) => boolean) =>
    test.rows ? share(rows, is) : tokenMean(mask, (i, t) => Number(is(tokens[i]![t]!)));
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
    seq_mean: mean(rows),
    seq_std: deviation(rows),
    seq_max: greatest(rows),
    seq_min: least(rows),
    seq_max_deviation: greatest(rows.map(Math.abs)),
    seq_fraction_high: share(rows, high),
    ...(lower === undefined ? {} : { seq_fraction_low: share(rows, low) }),
    masked_fraction: tokenMean(mask, (i, t) => 1 - keep[i]![t]!),
    seq_masked_fraction: rejected.length / valid.length,
  };
  return Object.fromEntries(Object.entries(figures).map(([key, v]) => [`${prefix}_${key}`, v]));
}

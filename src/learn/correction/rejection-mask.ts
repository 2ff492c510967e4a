import type { Rows } from "../advantage/masked.js";
import type { Figures, LogRatios } from "./correction-weights.js";
import {
  bounded,
  greatest,
  refuseEmpty,
  rowCount,
  rowMean,
  rowSum,
  tokenMean,
} from "./masked-figures.js";
import { rejectionMetrics, type TestResult } from "./rejection-metrics.js";
import { type RejectionOptions, type RejectionTest, readTests } from "./rejection-tests.js";

/** A token's divergence by one estimator. */
const divergences: Record<string, (r: number) => number> = {
  k1: (r) => -r,
  k2: (r) => r ** 2 / 2,
  k3: (r) => Math.exp(r) - 1 - r,
};

/** A row's statistic on all of its tokens, or each token's own. */
function statistic(name: RejectionTest, { logRatio, mask }: LogRatios) {
  const divergence = divergences[name.slice(-2)]!;
  const tokens = mask.map((row, i) =>
    Float64Array.from(row, (m, t) => (m ? divergence(bounded(logRatio[i]![t]!)) : 0)),
  );
  if (name.startsWith("token")) return { tokens };
  const rows = tokens.map((row, i) => {
    const own = mask[i]!;
    if (name.startsWith("seq_sum")) return rowSum(row, own);
    if (name.startsWith("seq_mean")) return rowMean(row, own);
    return rowCount(own) === 0 ? 0 : greatest([...row].filter((_, t) => own[t]));
  });
  return { tokens: mask.map((row, i) => new Float64Array(row.length).fill(rows[i]!)), rows };
}

/**
 * Leaves out tokens, or whole rows, that the policy that trains finds too likely or too unlikely beside
 * the one that sampled them: the mask that is left. A row's statistic rejects all of its tokens.
 */
export function rejectionMask(
  input: LogRatios,
  options: RejectionOptions,
): { mask: Float64Array[]; metrics: Figures } {
  const { mask } = input;
  const tests = readTests(options);
  refuseEmpty(mask);
  const results = tests.map(({ name, lower, upper }): TestResult => {
    const { tokens, rows } = statistic(name, input);
    const passes = (x: number) => x <= upper && x >= (lower ?? -Infinity);
    const keep = tokens.map((row) => row.map((x) => Number(passes(x))));
    return { name, lower, upper, tokens, rows, keep };
  });
  const left = mask.map((row, i) =>
    Float64Array.from(row, (m, t) => (results.every(({ keep }) => keep[i]![t]) ? m : 0)),
  );
  const metrics: Figures = Object.assign({}, ...results.map((r) => rejectionMetrics(r, mask)));
  return {
    mask: left,
    metrics: {
      ...metrics,
      rollout_rs_masked_fraction: tokenMean(mask, (i, t) => 1 - left[i]![t]!),
      rollout_rs_seq_masked_fraction: rejectedRows(left, mask).length / mask.length,
    },
  };
}

/** The rows that lost a token. */
function rejectedRows(left: readonly Float64Array[], mask: Rows): Float64Array[] {
  return left.filter((row, i) => rowCount(row) < rowCount(mask[i]!));
}

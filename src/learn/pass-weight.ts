import { aggregationOf, type AggregationChoice } from "./loss/registry.js";
import { trainedMask } from "./batch.js";
import type { PassRow } from "./token-passes.js";

/**
 * What a part of a mini-batch weighs, so that the split does not change the gradient: its tokens for a
 * mean over tokens, its rows for one over rows, and 1 for a sum, which adds up by itself.
 */
export function passWeight(rows: readonly PassRow[], options: AggregationChoice): number {
  const { mode, rule } = aggregationOf(options);
  const tokens = rows.map((row) => trainedMask(row).reduce((a, b) => a + b, 0));
  if (mode === "token-sum") return 1;
  if (mode === "token-mean") return tokens.reduce((sum, n) => sum + n, 0);
  if (rule === "verl-0.9.1") return tokens.filter((n) => n > 0).length;
  // The older one divides by a padded length alone: again a sum.
  return mode === "seq-mean-token-sum-norm" ? 1 : rows.length;
}

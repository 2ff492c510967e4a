/** How a matrix of token losses becomes one number. */
export const lossAggregations = [
  "token-mean",
  "token-sum",
  "seq-mean-token-sum",
  "seq-mean-token-mean",
  "seq-mean-token-sum-norm",
] as const;
export type LossAggregation = (typeof lossAggregations)[number];

/**
 * Whose arithmetic an aggregation follows. `older` adds 1e-8 to the number of tokens, counts rows without
 * a token as 0 in means over rows, and divides `seq-mean-token-sum-norm` by the length alone; from verl
 * 0.9.1 on a token mean is divided by the tokens, rows without one are left out, and
 * `seq-mean-token-sum-norm` is divided by the rows too.
 */
export const aggregationRules = ["older", "verl-0.9.1"] as const;
export type AggregationRule = (typeof aggregationRules)[number];

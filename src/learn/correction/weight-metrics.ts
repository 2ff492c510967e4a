import type { Rows } from "../advantage/masked.js";
import {
  clamp,
  deviation,
  greatest,
  largestLogRatio,
  least,
  mean,
  rowMean,
  rowSum,
  share,
  tokenDeviation,
  tokenMean,
} from "./masked-figures.js";
import type { Bounds } from "./thresholds.js";

/** Weights before and after they are cut off, and what they are made of. */
interface Weighed {
  raw: readonly Float64Array[];
  weights: readonly Float64Array[];
  logRatio: Rows;
  mask: Rows;
}

/** The weights of tokens that count. */
function flat(weights: readonly Float64Array[], mask: Rows): number[] {
  return weights.flatMap((row, i) => [...row].filter((_, t) => mask[i]![t]));
}

/** What the whole row's ratio shows before anything is bounded. */
function ofRows({ logRatio, mask }: Weighed, lower: number, upper: number) {
  const sums = mask.map((row, i) => rowSum(logRatio[i]!, row));
  return {
    rollout_is_max: Math.exp(Math.min(largestLogRatio, greatest(sums))),
    rollout_is_min: Math.exp(least(sums)),
    rollout_is_ratio_fraction_high: share(sums, (x) => x > Math.log(upper)),
    rollout_is_ratio_fraction_low: share(sums, (x) => x < Math.log(lower)),
  };
}

function ofTokens({ raw, weights, mask }: Weighed, lower: number, upper: number) {
  const own = flat(weights, mask);
  return {
    rollout_is_max: greatest(own),
    rollout_is_min: least(own),
    rollout_is_ratio_fraction_high: tokenMean(mask, (i, t) => Number(raw[i]![t]! > upper)),
    rollout_is_ratio_fraction_low: tokenMean(mask, (i, t) => Number(raw[i]![t]! < lower)),
  };
}

/**
 * What rollout weights look like, under the reference's names. Where every weight is 0 the effective
 * sample size is 0; the reference divides by 0 there and its step fails.
 */
export function weightMetrics(
  weighed: Weighed,
  level: "token" | "sequence",
  bounds: Bounds,
): Record<string, number> {
  const { raw, weights, mask } = weighed;
  const { upper } = bounds;
  const lower = bounds.lower ?? 1 / upper;
  const cut = (i: number, t: number) => clamp(weights[i]![t]!, 0, upper);
  const centre = tokenMean(mask, cut) + 1e-8;
  const squares = tokenMean(mask, (i, t) => (cut(i, t) / centre) ** 2);
  const means = weights.map((row, i) => rowMean(row, mask[i]!));
  const rawMeans = raw.map((row, i) => rowMean(row, mask[i]!));
  return {
    rollout_is_mean: tokenMean(mask, (i, t) => weights[i]![t]!),
    ...(level === "sequence" ? ofRows(weighed, lower, upper) : ofTokens(weighed, lower, upper)),
    rollout_is_std: tokenDeviation(mask, cut),
    rollout_is_eff_sample_size: squares === 0 ? 0 : 1 / squares,
    rollout_is_seq_mean: mean(means),
    rollout_is_seq_std: deviation(means),
    rollout_is_seq_max: greatest(means),
    rollout_is_seq_min: least(means),
    rollout_is_seq_max_deviation: greatest(means.map((x) => Math.abs(x - 1))),
    rollout_is_seq_fraction_high: share(rawMeans, (x) => x > upper),
    rollout_is_seq_fraction_low: share(rawMeans, (x) => x < lower),
    ...(bounds.lower === undefined
      ? {}
      : {
          rollout_is_oob_ratio: tokenMean(mask, (i, t) =>
            Number(raw[i]![t]! < lower || raw[i]![t]! > upper),
          ),
        }),
  };
}

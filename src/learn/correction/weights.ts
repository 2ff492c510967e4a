import { mean } from "../../base/statistics.js";
import {
  type Figures,
  type LogRatios,
  bounded,
  refuseEmpty,
  sequenceCount,
  sequenceMean,
  sequenceSum,
  tokenMean,
  clamp,
  deviation,
  greatest,
  largestLogRatio,
  least,
  share,
  tokenDeviation,
} from "./figures.js";
import { shown } from "../../../common/options/check-arguments.js";
import type { Rows } from "../masked.js";
import { parseBounds, type Threshold, type Bounds } from "./rejection.js";

/** Whose probability a weight is about: each token's, or the whole sequence's. */
export type WeightLevel = "token" | "sequence";

/** How rollout weights are made. */
export interface WeightOptions {
  /** Default: `token`. */
  weights?: WeightLevel;
  /**
   * One number cuts weights down to it (truncated importance sampling); `"lower_upper"` makes those
   * outside 0 (IcePop). Default: 2.
   */
  threshold?: Threshold;
  /** Weights out of bounds: brought to the nearest (`cut`), or 0 (`drop`). Default: `cut` for one number, `drop` for two. */
  outside?: "cut" | "drop";
  /** Divide by the mean weight, so that the mean is 1. Default: off. */
  normalize?: boolean;
}

/**
 * Importance weights of rollouts that another policy sampled than the one that trains: p / p_sampler,
 * per token or per sequence, cut off, 0 outside the mask. Losses are multiplied by them.
 */
export function correctionWeights(
  input: LogRatios,
  options: WeightOptions = {},
): { weights: Float64Array[]; metrics: Figures } {
  const { logRatio, mask } = input;
  const { weights: level = "token", threshold = 2, normalize = false } = options;
  if (level !== "token" && level !== "sequence") {
    throw new RangeError(
      `Cannot correct a rollout: weights must be one of token, sequence, got ${shown(level)}`,
    );
  }
  const bounds = parseBounds("threshold", threshold);
  refuseEmpty(mask);
  const { lower, upper } = bounds;
  const drops = (options.outside ?? (lower === undefined ? "cut" : "drop")) === "drop";
  const raw = mask.map((sequence, i) => {
    const ofSequence =
      level === "sequence" ? Math.exp(bounded(sequenceSum(logRatio[i]!, sequence))) : 0;
    return Float64Array.from(sequence, (m, t) => {
      if (!m) return 0;
      return level === "sequence" ? ofSequence : Math.exp(bounded(logRatio[i]![t]!));
    });
  });
  const weights = raw.map((sequence, i) =>
    sequence.map((w, t) => {
      if (!mask[i]![t]) return 0;
      if (drops) return w >= (lower ?? 0) && w <= upper ? w : 0;
      return clamp(w, lower ?? 0, upper);
    }),
  );
  const metrics = weightMetrics({ raw, weights, logRatio, mask }, level, bounds);
  if (!normalize) return { weights, metrics };
  const found =
    level === "token" ? tokenMean(mask, (i, t) => weights[i]![t]!) : sequences(weights, mask);
  const factor = found > 1e-8 ? found : 1;
  metrics["rollout_is_batch_norm_factor"] = factor;
  return { weights: weights.map((sequence) => sequence.map((w) => w / factor)), metrics };
}

/** Mean over the sequences that have a token. */
function sequences(weights: readonly Float64Array[], mask: Rows): number {
  const means = weights.flatMap((sequence, i) =>
    sequenceCount(mask[i]!) > 0 ? [sequenceMean(sequence, mask[i]!)] : [],
  );
  return mean(means);
}

/** Weights before and after they are cut off, and what they are made of. */
interface Weighed {
  raw: readonly Float64Array[];
  weights: readonly Float64Array[];
  logRatio: Rows;
  mask: Rows;
}

/** The weights of tokens that count. */
function flat(weights: readonly Float64Array[], mask: Rows): number[] {
  return weights.flatMap((sequence, i) => [...sequence].filter((_, t) => mask[i]![t]));
}

/** What the whole sequence's ratio shows before anything is bounded. */
function ofSequences({ logRatio, mask }: Weighed, lower: number, upper: number) {
  const sums = mask.map((sequence, i) => sequenceSum(logRatio[i]!, sequence));
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
function weightMetrics(
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
  const means = weights.map((sequence, i) => sequenceMean(sequence, mask[i]!));
  const rawMeans = raw.map((sequence, i) => sequenceMean(sequence, mask[i]!));
  return {
    rollout_is_mean: tokenMean(mask, (i, t) => weights[i]![t]!),
    ...(level === "sequence"
      ? ofSequences(weighed, lower, upper)
      : ofTokens(weighed, lower, upper)),
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

import { shown } from "../../arguments/shown.js";
import type { Rows } from "../advantage/masked.js";
import { bounded, refuseEmpty, rowCount, rowMean, rowSum, tokenMean } from "./masked-figures.js";
import { parseBounds, type Threshold } from "./thresholds.js";
import { weightMetrics } from "./weight-metrics.js";

/** Whose probability a weight is about: each token's, or the whole row's. */
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
  /** Divide by the mean weight, so that the mean is 1. Default: off. */
  normalize?: boolean;
}

/** What a correction is computed from: one row per trajectory. */
export interface LogRatios {
  /** ln p of each token under the policy that trains, less ln p under the one that sampled it. */
  logRatio: Rows;
  /** 1 on tokens that the model wrote. */
  mask: Rows;
}

/** Figures under the reference's names. */
export type Figures = Record<string, number>;

/**
 * Importance weights of rollouts that another policy sampled than the one that trains: p / p_sampler,
 * per token or per row, cut off, 0 outside the mask. Losses are multiplied by them.
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
  const raw = mask.map((row, i) => {
    const ofRow = level === "sequence" ? Math.exp(bounded(rowSum(logRatio[i]!, row))) : 0;
    return Float64Array.from(row, (m, t) => {
      if (!m) return 0;
      return level === "sequence" ? ofRow : Math.exp(bounded(logRatio[i]![t]!));
    });
  });
  const weights = raw.map((row) =>
    row.map((w) => {
      if (lower === undefined) return Math.min(w, upper);
      return w >= lower && w <= upper ? w : 0;
    }),
  );
  const metrics = weightMetrics({ raw, weights, logRatio, mask }, level, bounds);
  if (!normalize) return { weights, metrics };
  const found =
    level === "token" ? tokenMean(mask, (i, t) => weights[i]![t]!) : rows(weights, mask);
  const factor = found > 1e-8 ? found : 1;
  metrics["rollout_is_batch_norm_factor"] = factor;
  return { weights: weights.map((row) => row.map((w) => w / factor)), metrics };
}

/** Mean over the rows that have a token. */
function rows(weights: readonly Float64Array[], mask: Rows): number {
  const means = weights.flatMap((row, i) =>
    rowCount(mask[i]!) > 0 ? [rowMean(row, mask[i]!)] : [],
  );
  return means.reduce((a, b) => a + b, 0) / means.length;
}

import type { PreparedRow, ScoredRow } from "../batch.js";
import { type Figures, correctionWeights } from "./correction-weights.js";
import { rowCount } from "./masked-figures.js";
import { mismatchMetrics } from "./mismatch-metrics.js";
import { rejectionMask } from "./rejection-mask.js";
import type { CorrectionSettings } from "./rollout-correction.js";

const named = (metrics: Figures): Figures =>
  Object.fromEntries(Object.entries(metrics).map(([key, v]) => [`rollout_corr/${key}`, v]));

/** 1 on the trained tokens whose sampler said how likely they were. */
export function knownMask({ trajectory }: Pick<ScoredRow, "trajectory">): Uint8Array {
  const { lossMask, logprobs } = trajectory;
  return lossMask.map((m, t) => (m && Number.isFinite(logprobs[t]) ? 1 : 0));
}

/** The figures of a correction, and what it makes of each token. */
interface Corrected {
  weights: Float64Array[] | undefined;
  kept: Float64Array[] | undefined;
  metrics: Figures;
}

/** Compares rows' log-probabilities under the policy that trains with those of their sampler. */
function compare(
  rows: readonly Pick<ScoredRow, "trajectory">[],
  logprobs: readonly Float32Array[],
  known: readonly Uint8Array[],
  { weights: level, threshold, normalize, rejection }: CorrectionSettings,
): Corrected {
  const trained = rows.reduce((n, { trajectory }) => n + rowCount(trajectory.lossMask), 0);
  const said = known.reduce((n, row) => n + rowCount(row), 0);
  const unknown = { "rollout_corr/unknown_fraction": trained === 0 ? 0 : 1 - said / trained };
  if (said === 0) return { weights: undefined, kept: undefined, metrics: unknown };
  const sampledLogprobs = rows.map(({ trajectory }) => trajectory.logprobs);
  const logRatio = logprobs.map((row, i) => row.map((p, t) => p - sampledLogprobs[i]![t]!));
  const batch = { logRatio, mask: known };
  const weighed =
    level === null ? undefined : correctionWeights(batch, { weights: level, threshold, normalize });
  const tested = rejection && rejectionMask(batch, rejection);
  return {
    weights: weighed?.weights,
    kept: tested?.mask,
    metrics: {
      ...unknown,
      ...named({
        ...weighed?.metrics,
        ...tested?.metrics,
        ...mismatchMetrics({ logprobs, sampledLogprobs, mask: known }),
      }),
    },
  };
}

/** Takes back what an earlier correction wrote. */
function clear(row: PreparedRow): void {
  delete row.rolloutWeights;
  delete row.keptMask;
}

/**
 * Writes into rows what a correction makes of them: weights for the loss, and the mask that rejection
 * leaves. A token whose sampler did not say how likely it was has no ratio: it gets its row's weight, or
 * 1, and goes with its row. Without a correction rows are as they were before any.
 */
export function correctRows(
  rows: readonly PreparedRow[],
  settings: CorrectionSettings | undefined,
): Figures {
  rows.forEach(clear);
  if (!settings) return {};
  const known = rows.map(knownMask);
  if (settings.bypass) {
    // Only what the sampler drew has a ratio against it; the loss makes the weights as it goes.
    rows.forEach((row, i) => (row.keptMask = known[i]!));
    return {};
  }
  const logprobs = rows.map((row) => row.oldLogprobs);
  const { weights, kept, metrics } = compare(rows, logprobs, known, settings);
  rows.forEach((row, i) => {
    const { lossMask } = row.trajectory;
    const own = known[i]!;
    const first = own.indexOf(1);
    if (weights) {
      const ofRow = settings.weights === "sequence" && first >= 0 ? weights[i]![first]! : 1;
      row.rolloutWeights = Float32Array.from(lossMask, (m, t) =>
        own[t] ? weights[i]![t]! : m * ofRow,
      );
    }
    if (kept) {
      const stays = first < 0 || kept[i]!.includes(1);
      row.keptMask = lossMask.map((m, t) => (own[t] ? kept[i]![t]! : stays ? m : 0));
    }
  });
  return metrics;
}

/** Takes what the sampler said for what was measured before the update. */
export function bypassMeasuring<R extends ScoredRow>(rows: readonly R[]): (R & PreparedRow)[] {
  const prepared = rows.map((row) => {
    const { logprobs, entropies } = row.trajectory;
    const oldLogprobs = logprobs.map((p) => (Number.isFinite(p) ? p : 0));
    return Object.assign(row, { oldLogprobs, entropies, oldFrom: "sampler" as const });
  });
  if (prepared.some((row) => knownMask(row).includes(1))) return prepared;
  throw new TypeError(
    "Cannot bypass measuring: the sampler must have said how likely its tokens were, got none",
  );
}

/** The figures of rows whose log-probabilities under the policy that trains are others than before. */
export function correctionFigures(
  rows: readonly Pick<ScoredRow, "trajectory">[],
  logprobs: readonly Float32Array[],
  settings: CorrectionSettings,
): Figures {
  return compare(rows, logprobs, rows.map(knownMask), settings).metrics;
}

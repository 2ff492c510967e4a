// How old the policy was that sampled what an update trains on, counted in updates, and what that does to it.
import * as exact from "../base/exact/index.js";
import { type PreparedSequence, saidLogprobs, type ScoredSequence } from "./batch.js";
import { widestLogRatio, clamp } from "./losses/base/token-rule.js";

type Aged = Pick<ScoredSequence, "trajectory"> & Pick<PreparedSequence, "ages">;

/**
 * Writes into trajectories how many updates lie between the policy that sampled each token and the one that is trained;
 * -1 where nobody said. Weights that are newer than those that are trained count as these.
 */
export function writeAges(sequences: readonly Aged[], version: number | undefined): void {
  for (const sequence of sequences) {
    delete sequence.ages;
    const { versions } = sequence.trajectory;
    if (version === undefined || versions === undefined) continue;
    sequence.ages = versions.map((of) => (of < 0 ? -1 : Math.max(0, version - of)));
  }
}

/** Whether a token that is trained was sampled by an older policy than the one that is trained. */
export const isStale = ({ ages, trajectory: { lossMask } }: Aged): boolean =>
  ages?.some((age, t) => age > 0 && lossMask[t]) ?? false;

/** The effective sample size of weights, as a share of their number. */
function effectiveShare(weights: readonly number[]): number {
  let [sum, squares] = [0, 0];
  for (const w of weights) {
    sum += w;
    squares += w * w;
  }
  return squares === 0 ? 0 : sum ** 2 / (weights.length * squares);
}

/** The same where nothing is stale. */
export const freshFigures = {
  "staleness/age/mean": 0,
  "staleness/age/max": 0,
  "staleness/ratio/mean": 1,
  "staleness/ratio/max": 1,
  "staleness/effective_tokens": 1,
  "staleness/effective_trajectories": 1,
} as const;

/**
 * How old what a batch trains on is: ages of tokens, the ratio p / p_sampler before the update, and which share of tokens
 * and of trajectories its untruncated weights leave in effect. Nothing where no token is stale.
 */
export function stalenessFigures(
  sequences: readonly (Aged & Pick<PreparedSequence, "oldOver">)[],
  logprobs: readonly Float32Array[],
): Partial<Record<keyof typeof freshFigures, number>> {
  if (!sequences.some(isStale)) return {};
  const ages: number[] = [];
  const tokens: number[] = [];
  const trajectories: number[] = [];
  sequences.forEach((sequence, i) => {
    const { lossMask } = sequence.trajectory;
    const said = saidLogprobs(sequence);
    let whole = 0;
    let known = false;
    lossMask.forEach((m, t) => {
      if (!m) return;
      const age = sequence.ages?.[t] ?? -1;
      if (age >= 0) ages.push(age);
      const log = logprobs[i]![t]! - said[t]!;
      if (!Number.isFinite(log)) return;
      known = true;
      whole += log;
      tokens.push(exact.exp(clamp(log, -widestLogRatio, widestLogRatio)));
    });
    if (known) trajectories.push(exact.exp(clamp(whole, -widestLogRatio, widestLogRatio)));
  });
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
  const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b), 0);
  return {
    "staleness/age/mean": sum(ages) / ages.length,
    "staleness/age/max": most(ages),
    "staleness/ratio/mean": tokens.length === 0 ? 1 : sum(tokens) / tokens.length,
    "staleness/ratio/max": most(tokens),
    "staleness/effective_tokens": effectiveShare(tokens),
    "staleness/effective_trajectories": effectiveShare(trajectories),
  };
}

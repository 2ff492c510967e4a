import type { Rows } from "../masked.js";
import { mean } from "../../base/statistics.js";

/** What a correction is computed from: one sequence per trajectory. */
export interface LogRatios {
  /** ln p of each token under the policy that trains, less ln p under the one that sampled it. */
  logRatio: Rows;
  /** 1 on tokens that the model wrote. */
  mask: Rows;
}

/** Figures under the reference's names. */
export type Figures = Record<string, number>;

/** Keeps a mean over nothing finite, as the reference does. */
const epsilon = 1e-8;

/** Beyond it no logarithm is raised to a power. */
export const largestLogRatio = 20;

export const clamp = (x: number, low: number, high: number): number =>
  Math.min(high, Math.max(low, x));

/** A logarithm of a ratio as it may be raised to a power. */
export const bounded = (x: number): number => clamp(x, -largestLogRatio, largestLogRatio);

/** A sequence's sum over its mask; what stands outside of it may be anything. */
export function sequenceSum(values: ArrayLike<number>, mask: ArrayLike<number>): number {
  let sum = 0;
  for (let t = 0; t < mask.length; t++) if (mask[t]) sum += values[t]!;
  return sum;
}

/** Tokens of a sequence's mask. */
export function sequenceCount(mask: ArrayLike<number>): number {
  let count = 0;
  for (let t = 0; t < mask.length; t++) if (mask[t]) count++;
  return count;
}

/** A sequence's mean over its mask; 0 for a sequence without tokens. */
export const sequenceMean = (values: ArrayLike<number>, mask: ArrayLike<number>): number =>
  sequenceSum(values, mask) / (sequenceCount(mask) + epsilon);

/** Mean of a figure of each token over the mask. */
export function tokenMean(mask: Rows, of: (sequence: number, t: number) => number): number {
  let sum = 0;
  let count = 0;
  mask.forEach((sequence, i) => {
    for (let t = 0; t < sequence.length; t++) {
      if (!sequence[t]) continue;
      sum += of(i, t);
      count++;
    }
  });
  return sum / (count + epsilon);
}

/** Deviation of a figure of each token, by its mean square; 0 with at most one token. */
export function tokenDeviation(mask: Rows, of: (sequence: number, t: number) => number): number {
  if (mask.reduce((n, sequence) => n + sequenceCount(sequence), 0) <= 1) return 0;
  const mean = tokenMean(mask, of);
  return Math.sqrt(Math.max(0, tokenMean(mask, (i, t) => of(i, t) ** 2) - mean ** 2));
}

/** Sample deviation; 0 for one value. */
export function deviation(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const centre = mean(values);
  return Math.sqrt(values.reduce((sum, v) => sum + (v - centre) ** 2, 0) / (values.length - 1));
}

export const greatest = (values: readonly number[]): number =>
  values.reduce((a, b) => Math.max(a, b), -Infinity);

export const least = (values: readonly number[]): number =>
  values.reduce((a, b) => Math.min(a, b), Infinity);

/** Share of values that pass a test. */
export const share = (values: readonly number[], test: (value: number) => boolean): number =>
  values.filter(test).length / values.length;

/** Throws where no token is left to say anything about. */
export function refuseEmpty(mask: Rows): void {
  if (mask.some((sequence) => sequenceCount(sequence) > 0)) return;
  throw new RangeError("Cannot correct a rollout: the mask must keep a token, got none");
}

/**
 * How far the policy that trains is from the one that sampled, under the reference's names:
 * perplexities, divergences and what sequences differ by.
 */
export function mismatchMetrics(input: {
  /** ln p under the policy that trains. */
  logprobs: Rows;
  /** ln p under the policy that sampled. */
  sampledLogprobs: Rows;
  mask: Rows;
}): Figures {
  const { logprobs, sampledLogprobs: sampled, mask } = input;
  refuseEmpty(mask);
  const ratio = (i: number, t: number) => logprobs[i]![t]! - sampled[i]![t]!;
  const ratios = mask.map((sequence, i) =>
    Float64Array.from(sequence, (m, t) => (m ? ratio(i, t) : 0)),
  );
  const own = mask.map((sequence, i) => sequenceMean(logprobs[i]!, sequence));
  const theirs = mask.map((sequence, i) => sequenceMean(sampled[i]!, sequence));
  const apart = theirs.map((value, i) => value - own[i]!);
  return {
    training_ppl: mean(own.map((x) => Math.exp(-x))),
    training_log_ppl: -mean(own),
    kl: tokenMean(mask, (i, t) => sampled[i]![t]! - logprobs[i]![t]!),
    k3_kl: tokenMean(mask, (i, t) => Math.exp(ratio(i, t)) - ratio(i, t) - 1),
    rollout_ppl: mean(theirs.map((x) => Math.exp(-x))),
    rollout_log_ppl: -mean(theirs),
    log_ppl_diff: mean(apart),
    log_ppl_abs_diff: mean(apart.map(Math.abs)),
    log_ppl_diff_max: greatest(apart),
    log_ppl_diff_min: least(apart),
    ppl_ratio: mean(apart.map(Math.exp)),
    chi2_token: tokenMean(mask, (i, t) => Math.exp(bounded(ratio(i, t))) ** 2) - 1,
    chi2_seq:
      mean(ratios.map((sequence, i) => Math.exp(2 * bounded(sequenceSum(sequence, mask[i]!))))) - 1,
  };
}

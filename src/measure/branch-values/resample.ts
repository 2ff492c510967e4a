import { Random } from "../../base/random/random.js";
import { quantile } from "../../base/statistics.js";

/** How intervals are drawn. */
export interface EstimateOptions {
  /** Resamples of the prompts. Default 1,000; 0 leaves intervals out. */
  draws?: number;
  /** Default 0. */
  seed?: number;
  /** The share of resamples inside an interval. Default 0.95. */
  level?: number;
}

/** A number with its interval over prompts; undefined where nothing tells it. */
export interface Interval {
  value: number | undefined;
  low: number | undefined;
  high: number | undefined;
}

/** Of the last few numbers of prompts: tables ask for several in turn. */
const kept = new Map<string, Uint16Array>();

/** How often each prompt is in each resample: the same for every statistic, so that ratios are of the same prompts. */
function countsOf(prompts: number, draws: number, seed: number): Uint16Array {
  const key = `${prompts} ${draws} ${seed}`;
  const known = kept.get(key);
  if (known) return known;
  const counts = new Uint16Array(prompts * draws);
  const random = Random.from(seed).split("resample").split(prompts);
  for (let draw = 0; draw < draws; draw++) {
    for (let i = 0; i < prompts; i++) counts[draw * prompts + random.integer(prompts)]!++;
  }
  if (kept.size >= 8) kept.delete(kept.keys().next().value!);
  kept.set(key, counts);
  return counts;
}

/**
 * A function of sums over prompts, and its interval by resampling the prompts. Where a resample does not tell it,
 * it is left out.
 */
export function estimate(
  sums: readonly (readonly number[])[],
  statistic: (total: readonly number[]) => number | undefined,
  { draws = 1000, seed = 0, level = 0.95 }: EstimateOptions = {},
): Interval {
  const prompts = sums.length;
  const width = sums[0]?.length ?? 0;
  const total = new Array<number>(width);
  const flat = new Float64Array(prompts * width);
  sums.forEach((own, i) => {
    for (let k = 0; k < width; k++) flat[i * width + k] = own[k]!;
  });
  const add = (counts: Uint16Array, from: number) => {
    total.fill(0);
    for (let i = 0, at = 0; i < prompts; i++, at += width) {
      const count = counts[from + i]!;
      if (count === 0) continue;
      for (let k = 0; k < width; k++) total[k]! += count * flat[at + k]!;
    }
    return statistic(total);
  };
  const value = prompts === 0 ? undefined : add(new Uint16Array(prompts).fill(1), 0);
  if (value === undefined || prompts < 2 || draws === 0) {
    return { value, low: undefined, high: undefined };
  }
  const counts = countsOf(prompts, draws, seed);
  const drawn: number[] = [];
  for (let draw = 0; draw < draws; draw++) {
    const found = add(counts, draw * prompts);
    if (found !== undefined) drawn.push(found);
  }
  if (drawn.length === 0) return { value, low: undefined, high: undefined };
  drawn.sort((a, b) => a - b);
  const out = (1 - level) / 2;
  return { value, low: quantile(drawn, out), high: quantile(drawn, 1 - out) };
}

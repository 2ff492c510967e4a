import { Random } from "../../base/random/random.js";
import { quantile } from "../../base/statistics.js";

/** A statistic with its 95% interval over prompts. */
export interface BootstrapEstimate {
  /** Undefined where there is nothing to tell it from: never 0 for lack of data. */
  value: number | undefined;
  /** The middle 95% of the bootstrap; undefined for fewer than two prompts. */
  low: number | undefined;
  high: number | undefined;
  /** What was averaged or counted: trajectories, tokens, rounds or forks. */
  count: number;
  /** Why there is no value. */
  why?: string;
}

/** How intervals are drawn. */
export interface BootstrapOptions {
  /** Resamples of the prompts. Default 1,000; 0 leaves intervals out. */
  draws?: number;
  /** Default 0. */
  seed?: number;
}

/**
 * A statistic of prompts that is a function of sums over them, and its interval: prompts are drawn with
 * replacement from a stream named after the statistic.
 */
export function bootstrap(
  name: string,
  sums: readonly (readonly number[])[],
  statistic: (total: readonly number[]) => number | undefined,
  { draws = 1000, seed = 0 }: BootstrapOptions,
): Pick<BootstrapEstimate, "value" | "low" | "high"> {
  const width = sums[0]?.length ?? 0;
  const add = (total: number[], one: readonly number[]) => {
    for (let i = 0; i < width; i++) total[i]! += one[i]!;
    return total;
  };
  const zeros = () => new Array<number>(width).fill(0);
  const value = sums.length === 0 ? undefined : statistic(sums.reduce(add, zeros()));
  if (value === undefined || sums.length < 2 || draws === 0) {
    return { value, low: undefined, high: undefined };
  }
  const random = Random.from(seed).split("bootstrap").split(name);
  const drawn: number[] = [];
  for (let draw = 0; draw < draws; draw++) {
    const total = zeros();
    for (let i = 0; i < sums.length; i++) add(total, sums[random.integer(sums.length)]!);
    const found = statistic(total);
    if (found !== undefined) drawn.push(found);
  }
  drawn.sort((a, b) => a - b);
  return { value, low: quantile(drawn, 0.025), high: quantile(drawn, 0.975) };
}

/** The sums of each prompt: items of one prompt are added up, in order of first appearance. */
export function sumsByPrompt<T extends { prompt: string }>(
  items: readonly T[],
  sumsOf: (item: T) => readonly number[],
): number[][] {
  const prompts = new Map<string, number[]>();
  for (const item of items) {
    const sums = sumsOf(item);
    const total = prompts.get(item.prompt);
    if (total) for (let i = 0; i < sums.length; i++) total[i]! += sums[i]!;
    else prompts.set(item.prompt, [...sums]);
  }
  return [...prompts.values()];
}

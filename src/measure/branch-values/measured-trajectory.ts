import type { ValueRecord, ValueState } from "./value-record.js";
import { mean } from "../../base/statistics.js";

/** What a score counts as: 1 above `right` and 0 below, or itself. */
type Outcome = (score: number) => number;

/** A measured trajectory as a place rule sees it: nothing of what its forks got. */
export interface SeenTrajectory {
  readonly task: string;
  /** The drawn tokens: text, entropy in nats, ln p, and ln p under the current policy where there was one. */
  readonly texts: readonly string[];
  readonly entropies: readonly number[];
  readonly logprobs: readonly number[];
  readonly current: readonly number[] | undefined;
  /** The block that each token stands in; "" between blocks. */
  readonly blocks: readonly string[];
  /** Calls made before each token. */
  readonly calls: readonly number[];
  /** Drawn tokens since the last tool result: 0 right after one, Infinity before the first. */
  readonly sinceResult: readonly number[];
  /** Tokens that the trajectory still drew from here on, this one included. */
  readonly left: readonly number[];
  /** The generate call of each token, and each call's entropy as branching measures it. */
  readonly segment: readonly number[];
  readonly segmentEntropies: readonly number[];
  /** The prompt's other trajectories: drawn tokens shared with this one, and what they got. */
  readonly group: readonly { readonly shared: number; readonly value: number }[];
}

/** What forks say of a state. */
interface StateValue {
  mean: number;
  /** Unbiased. */
  variance: number;
  /** The same from either half of the forks alone. */
  halves: [number, number];
  count: number;
  tokens: number;
  calls: number;
}

/** The unbiased variance of what was drawn; 0 of fewer than two. */
export function variance(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const middle = mean(values);
  return values.reduce((sum, x) => sum + (x - middle) ** 2, 0) / (values.length - 1);
}

function valueOf({ scores, tokens, calls }: ValueState, outcome: Outcome): StateValue {
  const values = scores.map(outcome);
  const half = values.length >> 1;
  return {
    mean: mean(values),
    variance: variance(values),
    halves: [variance(values.slice(0, half)), variance(values.slice(half))],
    count: values.length,
    tokens: tokens / values.length,
    calls: calls / values.length,
  };
}

/** A trajectory and the estimates at each of its drawn tokens. */
export class MeasuredTrajectory {
  readonly seen: SeenTrajectory;
  /** Variance of the outcome of forks from before each token: of all, and of either half of the forks. */
  readonly variance: Float64Array;
  readonly halves: readonly [Float64Array, Float64Array];
  /** What a fork from before each token still draws and calls. */
  readonly tokensLeft: Float64Array;
  readonly callsLeft: Float64Array;
  readonly #states: StateValue[];
  /** The state of each token, and of the end. */
  readonly #state: Int32Array;

  constructor(record: ValueRecord, outcome: Outcome) {
    const { length } = record.texts;
    const calls = new Array<number>(length).fill(0);
    const segment = new Array<number>(length).fill(0);
    const sinceResult = new Array<number>(length).fill(Infinity);
    for (let i = 0, s = 0; i < length; i++) {
      while (s + 1 < record.segments.length && record.segments[s + 1]!.start <= i) s++;
      segment[i] = s;
      calls[i] = s;
      if (s > 0) sinceResult[i] = i - record.segments[s]!.start;
    }
    this.seen = {
      task: record.task,
      texts: record.texts,
      entropies: record.entropies,
      logprobs: record.logprobs,
      current: record.current,
      blocks: record.blocks,
      calls,
      sinceResult,
      left: record.texts.map((_, i) => length - i),
      segment,
      segmentEntropies: record.segments.map(({ entropy }) => entropy),
      group: record.group.map(({ shared, score }) => ({ shared, value: outcome(score) })),
    };
    this.#state = new Int32Array(length + 1);
    for (let i = 0, s = 0; i < length; i++) {
      while (s + 1 < record.states.length && record.states[s + 1]!.at <= i) s++;
      this.#state[i] = s;
    }
    this.#state[length] = record.states.length;
    const end = outcome(record.score);
    this.#states = [
      ...record.states.map((state) => valueOf(state, outcome)),
      { mean: end, variance: 0, halves: [0, 0], count: Infinity, tokens: 0, calls: 0 },
    ];
    const at = (i: number) => this.#states[this.#state[i]!]!;
    const each = (f: (i: number) => number) => Float64Array.from(record.texts, (_, i) => f(i));
    this.variance = each((i) => at(i).variance);
    this.halves = [each((i) => at(i).halves[0]), each((i) => at(i).halves[1])];
    // What is left counts from the token, not from where its state begins.
    const start = (i: number) => record.states[this.#state[i]!]!.at;
    this.tokensLeft = each((i) => Math.max(1, at(i).tokens - (i - start(i))));
    this.callsLeft = each((i) => Math.max(0, at(i).calls - (calls[i]! - calls[start(i)]!)));
  }

  get length(): number {
    return this.seen.texts.length;
  }

  /** The mean outcome of forks from before a token; behind the last, the trajectory's own. */
  value(at: number): number {
    return this.#states[this.#state[at]!]!.mean;
  }

  /** How much of the outcome's variance a token and the `width` - 1 behind it decide: unbiased, so it may be below 0. */
  decided(at: number, width = 1): number {
    const [from, to] = [this.#state[at]!, this.#state[Math.min(at + width, this.length)]!];
    if (from === to) return 0;
    const [before, after] = [this.#states[from]!, this.#states[to]!];
    return (
      (after.mean - before.mean) ** 2 -
      before.variance / before.count -
      after.variance / after.count
    );
  }
}

/** How likely forks from each token are to be mixed, from the group's own outcomes. */
export function groupMixed(t: SeenTrajectory): { shared: number; variance: number }[] {
  const { group } = t;
  const all = (group.reduce((sum, { value }) => sum + value, 0) + 0.2) / (group.length + 2);
  return t.texts.map((_, i) => {
    const here = group.filter(({ shared }) => shared >= i);
    const q = (here.reduce((sum, { value }) => sum + value, 0) + all) / (here.length + 1);
    return { shared: here.length, variance: q * (1 - q) };
  });
}

/** The mean of the values from each place on, over at most `width`. */
export const windowMeans = (values: readonly number[], width: number): number[] =>
  values.map((_, i) => {
    const window = values.slice(i, i + width);
    return mean(window);
  });

import { shown } from "../../../common/options/check-arguments.js";
import { valuesAhead } from "../branch/family/future-value.js";
import { greatest } from "../branch/family/greatest.js";
import type { RankingSignal, TokenRanking } from "../branch/family/signals.js";
import type { Random } from "../../base/random/random.js";
import {
  beyondResults,
  type Chain,
  pathTokens,
  signalOf,
  topEntropy,
  turnsOf,
} from "./path-tokens.js";
import type { PlannedTurn } from "./turn-outline.js";

/**
 * What published code takes for the log-probabilities and entropies of a trajectory. Its list of
 * what the sampler returned has no entry for a tool's result, but is laid beside the response that has:
 * from the first result on, a token is paired with what belongs to a later one. A token that is not among that
 * entry's counts as certain, and so do those for which no entry is left.
 */
function misaligned(chain: Chain): { logprobs: Float64Array; entropies: Float64Array } {
  const size = chain.length - chain.start;
  const logprobs = new Float64Array(size);
  const entropies = new Float64Array(size);
  const ids = chain.nodes.flatMap((node) => [...node.tokens]);
  let entry = 0;
  for (const node of chain.nodes) {
    if (node.kind !== "model") continue;
    for (let t = 0; t < node.tokens.length; t++, entry++) {
      entropies[entry] = topEntropy(node.top, t);
      logprobs[entry] = logprobOf(node, t, ids[entry]!);
    }
  }
  return { logprobs, entropies };
}

function logprobOf(node: Chain["nodes"][number], at: number, id: number): number {
  if (node.tokens[at] === id) return node.logprobs[at]!;
  const { top } = node;
  for (let k = 0; top && k < top.width; k++) {
    if (top.ids[at * top.width + k] === id) return top.logprobs[at * top.width + k]!;
  }
  return 0;
}

/** A place where a trajectory may be left. */
interface RankedPlace {
  /** Tokens of the response that stay. */
  at: number;
  /**
   * The token that is scored: its number among those the trajectory drew itself, and its place in the
   * response.
   */
  token: number;
  place: number;
  score: number;
  /** Uncertain and of influence, where a rule looks at both. */
  strict?: boolean;
}

/** A trajectory as the rules choose in it: plain data, so that a page can choose too. */
export interface PlannedChain {
  id: number;
  kind: Chain["kind"];
  parent: number;
  tree: number;
  start: number;
  split: number;
  length: number;
  /** Where it may be left, best first; the first of `count` such places. */
  places: RankedPlace[];
  count: number;
  turns: PlannedTurn[];
  /** It ended by itself, where the rule asks. */
  complete?: boolean;
  /** ln p of each token drawn, and its place, where the rule weighs paths by it. */
  drawn?: { places: number[]; logprobs: number[] };
}

/** What the rules ask about tokens besides their numbers. */
export interface Reading {
  /** What a token's text says, special tokens left out. */
  isBlank: (id: number) => boolean;
  isMeaningless: (id: number) => boolean;
  isClosing: (id: number) => boolean;
  /** Places of a trajectory that are wanted. */
  most: number;
  /** What the signal `random` draws from. */
  random: Random;
  /** The signal `own`. */
  ranking?: TokenRanking | undefined;
  textOf: (id: number) => string;
  /** ln p of a trajectory's tokens under the policy of now, by place in the response, where there is one. */
  current?: (trajectory: number) => ArrayLike<number> | undefined;
  /** The signal `group-mixed` of a first trajectory, by place behind its start. */
  mixed?: ((chain: Chain) => Float64Array) | undefined;
  /** Log-probabilities are paired with tokens as published code does. */
  shifted?: boolean;
}

/** What a rule needs of a trajectory to choose in it. */
export function planChain<S>(
  chain: Chain,
  rule: { plan?(chain: Chain, settings: S, reading: Reading): Partial<PlannedChain> },
  settings: S,
  reading: Reading,
): PlannedChain {
  const { id, kind, parent, tree, start, split, length } = chain;
  const plan = { id, kind, parent, tree, start, split, length, turns: [], places: [], count: 0 };
  return { ...plan, ...rule.plan?.(chain, settings, reading) };
}

/** What the places of a trajectory are ranked by. */
function rankingOf(
  chain: Chain,
  signal: RankingSignal,
  { random, ranking, textOf, mixed }: Reading,
  from = chain.start,
): Float64Array {
  if (signal === "own") return ownRanking(chain, ranking!, textOf).subarray(from - chain.start);
  if (signal === "group-mixed") return mixed!(chain).subarray(from - chain.start);
  if (signal !== "random") return signalOf(chain, signal, from);
  const own = random.split(chain.id);
  return Float64Array.from({ length: chain.length - from }, (_, t) => own.at(from + t));
}

/** What a function says of each token that was drawn; NaN of the others. */
function ownRanking(chain: Chain, ranking: TokenRanking, textOf: Reading["textOf"]): Float64Array {
  const { ids, own } = drawnFrom(chain, chain.start);
  const [entropies, surprisals] = [signalOf(chain, "entropy"), signalOf(chain, "surprisal")];
  const values = new Float64Array(ids.length).fill(NaN);
  let [calls, since] = [0, Infinity];
  own.forEach((t, index) => {
    if (index > 0 && t > own[index - 1]! + 1) [calls, since] = [calls + 1, 0];
    const token = {
      ...{ trajectory: chain.id, index, text: textOf(ids[t]!), left: own.length - index },
      ...{ entropy: entropies[t]!, logprob: -surprisals[t]!, calls, sinceResult: since },
    };
    const value: unknown = ranking(token);
    if (typeof value !== "number" || !Number.isFinite(value)) {
      throw new RangeError(
        `Cannot roll out: expand.signal must give a finite number for each token, got ${shown(value)}`,
      );
    }
    values[t] = value;
    since++;
  });
  return values;
}

/** The tokens of a trajectory that were drawn, by their place behind `from`. */
function drawnFrom(chain: Chain, from: number): { ids: Int32Array; own: number[] } {
  const { ids, drawn } = pathTokens(chain, from);
  const own: number[] = [];
  for (let t = 0; t < drawn.length; t++) if (drawn[t]) own.push(t);
  return { ids, own };
}

/** Tokens that are drawn anew, best first: all that the trajectory drew, or a span of them. */
export function beforeTokens(
  chain: Chain,
  by: RankingSignal,
  reading: Reading,
  span: (
    values: Float64Array,
    closes: (token: number) => boolean,
  ) => [first: number, end: number] = ({ length }) => [0, length],
): Pick<PlannedChain, "places" | "count"> {
  const { isClosing, most } = reading;
  const { split } = chain;
  const { ids, own } = drawnFrom(chain, split);
  const signal = rankingOf(chain, by, reading, split);
  const values = Float64Array.from(own, (t) => signal[t]!);
  const [first, end] = span(values, (token) => isClosing(ids[own[token]!]!));
  const places = greatest(values.subarray(first, end), most).map((i) => {
    const token = first + i;
    const place = split + own[token]!;
    return { at: place, token, place, score: values[token]! };
  });
  return { places, count: Math.max(0, end - first) };
}

/** A trajectory's drawn tokens by their place behind its start, with what the rule ranks them by. */
interface DrawnTokens {
  ids: Int32Array;
  own: readonly number[];
  entropies: readonly number[];
  /** What the published code pairs them with, where that is asked for. */
  seen: ReturnType<typeof misaligned> | undefined;
}

/** Tokens that stay, and are continued from. */
export function afterTokens(
  chain: Chain,
  by: RankingSignal,
  reading: Reading,
  candidatesOf: (
    drawn: DrawnTokens,
  ) => readonly { token: number; score: number; strict: boolean }[],
): RankedPlace[] {
  const { shifted = false, most } = reading;
  const { start } = chain;
  const { ids, own } = drawnFrom(chain, start);
  const seen = shifted ? misaligned(chain) : undefined;
  const signal = (isOwn(by) ? undefined : seen?.entropies) ?? rankingOf(chain, by, reading);
  const beyond = beyondResults(chain);
  const candidates = candidatesOf({ ids, own, entropies: own.map((t) => signal[t]!), seen });
  // Nothing may follow where the trajectory ended.
  const open = candidates.filter(({ token }) => beyond(start + own[token]! + 1) < chain.length);
  const order = (strict: boolean) => {
    const listed = open.filter((one) => one.strict === strict);
    return greatest(
      listed.map(({ score }) => score),
      most,
    ).map((i) => listed[i]!);
  };
  return [...order(true), ...order(false)].slice(0, most).map(({ token, score, strict }) => {
    const place = start + own[token]!;
    const at = beyond(place + 1);
    return { at, token, place, score, ...(strict ? { strict } : {}) };
  });
}

const isOwn = (by: RankingSignal) => by === "random" || by === "own";

/**
 * Future values of a trajectory's tokens; undefined where nobody says what follows, and where both policies say
 * the same of all of them.
 */
export function futureValues(
  chain: Chain,
  { signal, gamma, clip }: { signal: RankingSignal; gamma: number; clip: number },
  { current }: Reading,
  shifted: Float64Array | undefined,
): number[] | undefined {
  const now = isOwn(signal) ? undefined : current?.(chain.id);
  if (!now) return undefined;
  const { drawn } = pathTokens(chain);
  const sampled = shifted ?? signalOf(chain, "surprisal").map((l) => -l);
  const ratios = Array.from(drawn, (d, t) => (d ? now[t + chain.start]! - sampled[t]! : 0));
  return ratios.some((r) => r !== 0) ? valuesAhead(ratios, drawn, { gamma, clip }) : undefined;
}

/** A trajectory's turns, each with the mean signal of its last generate call. */
export function plannedTurns(
  chain: Chain,
  by: RankingSignal | undefined,
  reading: Reading,
): PlannedTurn[] {
  const { split } = chain;
  const signal = by === undefined ? undefined : rankingOf(chain, by, reading, split);
  return turnsOf(chain).map(({ start, end, called }) => {
    // What it shares was measured where it was written.
    const [from, to] = [Math.max(split, called[0]), Math.max(split, called[1])];
    let sum = 0;
    for (let t = from; signal && t < to; t++) sum += signal[t - split]!;
    return { start, end, signal: to > from ? sum / (to - from) : 0 };
  });
}

import { shown } from "../../../arguments/check-arguments.js";
import { appoCandidates, appoFutureValues, rolloutCandidates } from "../branch/family/appo.js";
import { greatest } from "../branch/family/greatest.js";
import type {
  ExpansionSettings,
  RankingSignal,
  SettingsOf,
  TokenRanking,
} from "../branch/family/settings.js";
import type { Random } from "../../random/random.js";
import { freeTokens } from "../branch/family/treerl.js";
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
 * What APPO's published code takes for the log-probabilities and entropies of a trajectory. Its list of
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
  /** APPO: uncertain and of influence. */
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
  /** APPO pairs log-probabilities with tokens as its published code does. */
  shifted?: boolean;
}

/** What a rule needs of a trajectory to choose in it. */
export function planChain(
  chain: Chain,
  settings: ExpansionSettings,
  reading: Reading,
): PlannedChain {
  const { id, kind, parent, tree, start, split, length } = chain;
  const plan = { id, kind, parent, tree, start, split, length, turns: [] };
  const planned: PlannedChain = { ...plan, ...placesOf(chain, settings, reading) };
  if (settings.rule === "tree-grpo" || settings.rule === "at2po") {
    planned.turns = plannedTurns(chain, settings, reading);
  }
  if (settings.rule === "treepo" && settings.allocation !== "fixed_avg") {
    const { drawn } = pathTokens(chain);
    const logprobs = signalOf(chain, "surprisal");
    const at = Array.from(drawn, (_, t) => t).filter((t) => drawn[t]);
    planned.drawn = { places: at.map((t) => t + start), logprobs: at.map((t) => -logprobs[t]!) };
  }
  return planned;
}

function placesOf(
  chain: Chain,
  settings: ExpansionSettings,
  reading: Reading,
): Pick<PlannedChain, "places" | "count"> {
  const isFirst = chain.kind === "initial";
  switch (settings.rule) {
    case "treerl":
      return beforeTokens(chain, settings, reading);
    case "fr3e":
    case "redraw":
      return isFirst ? beforeTokens(chain, settings, reading) : nowhere;
    case "appo":
    case "appo-rollout":
      return isFirst ? { places: afterTokens(chain, settings, reading), count: 0 } : nowhere;
    default:
      return nowhere;
  }
}

const nowhere = { places: [], count: 0 };

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

/** Tokens that are drawn anew: TreeRL's, FR3E's and redraw's. */
function beforeTokens(
  chain: Chain,
  settings: SettingsOf<"treerl" | "fr3e" | "redraw">,
  reading: Reading,
): Pick<PlannedChain, "places" | "count"> {
  const { isClosing, most } = reading;
  const { split } = chain;
  const { ids, own } = drawnFrom(chain, split);
  const signal = rankingOf(chain, settings.signal, reading, split);
  const values = Float64Array.from(own, (t) => signal[t]!);
  const [first, end] =
    settings.rule !== "treerl"
      ? [0, own.length]
      : freeTokens(
          { prefixed: split > chain.start, signal: values },
          (token) => isClosing(ids[own[token]!]!),
          chain.parent < 0 ? settings.maxLength : undefined,
        );
  const places = greatest(values.subarray(first, end), most).map((i) => {
    const token = first + i;
    const place = split + own[token]!;
    return { at: place, token, place, score: values[token]! };
  });
  return { places, count: Math.max(0, end - first) };
}

/** Tokens that stay, and are continued from: APPO's. */
function afterTokens(
  chain: Chain,
  settings: SettingsOf<"appo" | "appo-rollout">,
  reading: Reading,
): RankedPlace[] {
  const { isBlank, isMeaningless, current, shifted = false, most } = reading;
  const { start } = chain;
  const { ids, own } = drawnFrom(chain, start);
  const seen = shifted ? misaligned(chain) : undefined;
  const isOwn = settings.signal === "random" || settings.signal === "own";
  const signal =
    (isOwn ? undefined : seen?.entropies) ?? rankingOf(chain, settings.signal, reading);
  const entropies = own.map((t) => signal[t]!);
  const beyond = beyondResults(chain);
  const now = isOwn ? undefined : current?.(chain.id);
  const future = now && ahead(chain, now, seen?.logprobs, settings);
  const candidates =
    settings.rule === "appo"
      ? appoCandidates(0, {
          mask: own.map(() => 1),
          blank: own.map((t) => isBlank(ids[t]!)),
          entropies,
          future: future && own.map((t) => future[t]!),
        })
      : rolloutCandidates(
          own.map((t) => isMeaningless(ids[t]!)),
          entropies,
        );
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

/** Future values of a trajectory's tokens; undefined where both policies say the same of all of them. */
function ahead(
  chain: Chain,
  now: ArrayLike<number>,
  shifted: Float64Array | undefined,
  options: ExpansionSettings,
): number[] | undefined {
  if (options.rule !== "appo") return undefined;
  const { gamma, clip } = options;
  const { drawn } = pathTokens(chain);
  const sampled = shifted ?? signalOf(chain, "surprisal").map((l) => -l);
  const ratios = Array.from(drawn, (d, t) => (d ? now[t + chain.start]! - sampled[t]! : 0));
  return ratios.some((r) => r !== 0) ? appoFutureValues(ratios, drawn, { gamma, clip }) : undefined;
}

function plannedTurns(
  chain: Chain,
  settings: SettingsOf<"tree-grpo" | "at2po">,
  reading: Reading,
): PlannedTurn[] {
  const { split } = chain;
  const signal =
    settings.rule === "at2po" && settings.signal !== "random"
      ? rankingOf(chain, settings.signal, reading, split)
      : undefined;
  return turnsOf(chain).map(({ start, end, called }) => {
    // What it shares was measured where it was written.
    const [from, to] = [Math.max(split, called[0]), Math.max(split, called[1])];
    let sum = 0;
    for (let t = from; signal && t < to; t++) sum += signal[t - split]!;
    return { start, end, signal: to > from ? sum / (to - from) : 0 };
  });
}

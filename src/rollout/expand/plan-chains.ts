import {
  appoCandidates,
  appoFutureValues,
  appoRolloutPoints,
  inAppoOrder,
} from "../branch/family/appo.js";
import {
  beyondResults,
  pathTokens,
  signalOf,
  turnsOf,
  type Chain,
  type PathTokens,
} from "./path-tokens.js";
import { misaligned } from "./misaligned.js";
import type { ExpansionSettings } from "../branch/family/settings.js";
import { rankTokens } from "../branch/family/treerl.js";
import type { PlannedTurn } from "./turn-outline.js";

/** A place where a row may be left. */
export interface RankedPlace {
  /** Tokens of the response that stay. */
  at: number;
  /** The token that is scored: its number among those the row drew itself, and its place in the response. */
  token: number;
  place: number;
  score: number;
  /** APPO: uncertain and of influence. */
  strict?: boolean;
}

/** A row as the rules choose in it: plain data, so that a page can choose too. */
export interface PlannedChain {
  row: number;
  kind: Chain["kind"];
  parent: number;
  tree: number;
  start: number;
  split: number;
  length: number;
  /** Where it may be left, best first, and how many such places there are. */
  places: RankedPlace[];
  count: number;
  turns: PlannedTurn[];
  /** ln p of each token drawn, and its place, where the rule weighs paths by it. */
  drawn?: { places: number[]; logprobs: number[] };
}

/** What the rules ask about tokens besides their numbers. */
export interface Reading {
  /** A token's text, without special tokens. */
  textOf: (id: number) => string;
  /** ln p of a row's tokens under the policy of now, by place in the response, where there is one. */
  current?: (row: number) => ArrayLike<number> | undefined;
  /** APPO pairs log-probabilities with tokens as its published code does. */
  shifted?: boolean;
}

/** What a rule needs of a row to choose in it. */
export function planChain(
  chain: Chain,
  settings: ExpansionSettings,
  reading: Reading,
): PlannedChain {
  const { row, kind, parent, tree, start, split, length } = chain;
  const plan = { row, kind, parent, tree, start, split, length, turns: [] };
  const places = placesOf(chain, settings, reading);
  const planned: PlannedChain = { ...plan, places, count: places.length };
  if (settings.rule === "tree-grpo" || settings.rule === "at2po") {
    planned.turns = plannedTurns(chain, settings);
  }
  if (settings.rule === "treepo" && settings.allocation !== "fixed_avg") {
    const { drawn } = pathTokens(chain);
    const logprobs = signalOf(chain, "surprisal");
    const at = Array.from(drawn, (_, t) => t).filter((t) => drawn[t]);
    planned.drawn = { places: at.map((t) => t + start), logprobs: at.map((t) => -logprobs[t]!) };
  }
  return planned;
}

function placesOf(chain: Chain, settings: ExpansionSettings, reading: Reading): RankedPlace[] {
  switch (settings.rule) {
    case "treerl":
    case "fr3e":
      return beforeTokens(chain, settings, reading);
    case "appo":
    case "appo-rollout":
      return chain.kind === "initial" ? afterTokens(chain, settings, reading) : [];
    default:
      return [];
  }
}

/** The tokens that the row drew itself, by their place less `start`. */
const ownTokens = ({ drawn, own }: PathTokens): number[] =>
  Array.from(drawn, (_, t) => t).filter((t) => t >= own && drawn[t]);

/** Tokens that are drawn anew: TreeRL's and FR3E's. */
function beforeTokens(
  chain: Chain,
  settings: Extract<ExpansionSettings, { rule: "treerl" | "fr3e" }>,
  { textOf }: Reading,
): RankedPlace[] {
  const path = pathTokens(chain);
  const signal = signalOf(chain, settings.signal);
  const own = ownTokens(path);
  const values = own.map((t) => signal[t]!);
  const ranked =
    settings.rule === "fr3e"
      ? values.map((_, i) => i).sort((a, b) => values[b]! - values[a]!)
      : rankTokens(
          {
            prefixed: chain.split > chain.start,
            texts: own.map((t) => textOf(path.ids[t]!)),
            signal: values,
          },
          chain.parent < 0 ? settings.maxLength : undefined,
        );
  return ranked.map((token) => {
    const place = chain.start + own[token]!;
    return { at: place, token, place, score: values[token]! };
  });
}

/** Tokens that stay, and are gone on from: APPO's. */
function afterTokens(
  chain: Chain,
  settings: Extract<ExpansionSettings, { rule: "appo" | "appo-rollout" }>,
  { textOf, current, shifted = false }: Reading,
): RankedPlace[] {
  const path = pathTokens(chain);
  const own = ownTokens(path);
  const texts = own.map((t) => textOf(path.ids[t]!));
  const seen = shifted ? misaligned(chain) : undefined;
  const signal = seen?.entropies ?? signalOf(chain, settings.signal);
  const entropies = own.map((t) => signal[t]!);
  const beyond = beyondResults(chain);
  const places = (found: readonly { token: number; score: number; strict?: boolean }[]) =>
    found.flatMap(({ token, score, strict }): RankedPlace[] => {
      const place = chain.start + own[token]!;
      const at = beyond(place + 1);
      return at < chain.length ? [{ at, token, place, score, ...(strict ? { strict } : {}) }] : [];
    });
  if (settings.rule === "appo-rollout") return places(appoRolloutPoints(texts, entropies));
  const now = current?.(chain.row);
  const future = now && ahead(chain, path, now, seen?.logprobs, settings);
  const candidates = appoCandidates(0, {
    mask: own.map(() => 1),
    blank: texts.map((text) => text.trim() === ""),
    entropies,
    future: future && own.map((t) => future[t]!),
  });
  return places(inAppoOrder(candidates));
}

/** Future values of a row's tokens; undefined where both policies say the same of all of them. */
function ahead(
  chain: Chain,
  { drawn }: PathTokens,
  now: ArrayLike<number>,
  shifted: Float64Array | undefined,
  options: { gamma: number; clip: number },
): number[] | undefined {
  const sampled = shifted ?? signalOf(chain, "surprisal").map((l) => -l);
  const ratios = Array.from(drawn, (d, t) => (d ? now[t + chain.start]! - sampled[t]! : 0));
  return ratios.some((r) => r !== 0) ? appoFutureValues(ratios, drawn, options) : undefined;
}

function plannedTurns(
  chain: Chain,
  settings: Extract<ExpansionSettings, { rule: "tree-grpo" | "at2po" }>,
): PlannedTurn[] {
  const signal =
    settings.rule === "at2po" && settings.signal !== "random"
      ? signalOf(chain, settings.signal)
      : undefined;
  return turnsOf(chain).map(({ start, end, called: [from, to] }) => {
    let sum = 0;
    for (let t = from; signal && t < to; t++) sum += signal[t - chain.start]!;
    return { start, end, signal: to > from ? sum / (to - from) : 0 };
  });
}

import { count } from "../../../common/options/setting.js";
import { choiceOf, type Choice } from "../expand/choice.js";
import { beforeTokens, type PlannedChain } from "../expand/plan-chains.js";
import { defineRule } from "./definition.js";
import { short, signal, signalWords } from "./settings.js";
import { isClosing } from "../branch/family/token-words.js";

/** A chain as TreeRL sees it: what it wrote itself, token by token. */
export interface SignalChain {
  /** Whether something of a parent chain stands before its first token. */
  prefixed: boolean;
  texts: readonly string[];
  /** What the rule ranks by: surprisal as published, or entropy. */
  signal: ArrayLike<number>;
}

/** A token to branch before. */
export interface ChosenToken {
  tree: number;
  chain: number;
  token: number;
  score: number;
}

/** How many are chosen. */
export interface TreerlOptions {
  /** Per tree and round. */
  points: number;
  /** Above 0: points lie far apart, chosen from so many times `points` per chain. */
  upsampling?: number;
  /** Tokens of a tree's first chain that count. Default 7144, as for other chains in any case. */
  maxLength?: number;
}

/** The published code has this as the default of an argument that only first chains are given. */
const usualLength = 7144;

/**
 * The tokens that TreeRL leaves out: the first of a chain with a prefix, those beyond the length, and
 * every one after the first whose text contains "conclusion" or "answer".
 */
export function treerlMask(chain: SignalChain, maxLength = usualLength): boolean[] {
  const [first, end] = freeTokens(chain, (token) => isClosing(chain.texts[token]!), maxLength);
  return chain.texts.map((_, token) => token < first || token >= end);
}

/** The span of a chain's tokens that may be chosen. */
export function freeTokens(
  { prefixed, signal }: Pick<SignalChain, "prefixed" | "signal">,
  closes: (token: number) => boolean,
  maxLength = usualLength,
): [first: number, end: number] {
  const most = Math.min(signal.length, maxLength);
  let end = 0;
  while (end < most && !(end > 0 && closes(end - 1))) end++;
  return [prefixed ? 1 : 0, end];
}

/** The chain's tokens that may be chosen, by falling signal, equal ones in their order. */
export function rankTokens(chain: SignalChain, maxLength?: number): number[] {
  const masked = treerlMask(chain, maxLength);
  const free = masked.flatMap((out, token) => (out ? [] : [token]));
  return free.sort((a, b) => chain.signal[b]! - chain.signal[a]!);
}

/**
 * TreeRL's branch points of one round in a forest: of each chain the tokens of greatest signal, of each
 * tree the best of those. Among equals the later chain and the later token come first, as published.
 */
export function treerlSelect(
  forest: readonly (readonly SignalChain[])[],
  options: TreerlOptions,
): ChosenToken[] {
  return forest.flatMap((chains, tree) => {
    const ranked = chains.map((chain, i) => {
      const most = i === 0 ? options.maxLength : undefined;
      const own = (token: number) => ({ chain: i, token, score: chain.signal[token]! });
      return rankTokens(chain, most).map(own);
    });
    return pool(ranked, options).map((chosen) => ({ tree, ...chosen }));
  });
}

/** The first `count` of a chain's ranked tokens; where there are fewer, they come again. */
export function firstOf<T>(ranked: readonly T[], count: number): T[] {
  if (ranked.length === 0) return [];
  return Array.from({ length: count }, (_, i) => ranked[i % ranked.length]!);
}

/** The best of one tree, from its chains' tokens by falling score. */
export function pool<C extends Omit<ChosenToken, "tree">>(
  chains: readonly (readonly C[])[],
  { points, upsampling = 0 }: Pick<TreerlOptions, "points" | "upsampling">,
): C[] {
  const each = upsampling > 0 ? points * upsampling : points;
  const pooled = chains
    .flatMap((ranked) => firstOf(ranked, each))
    .sort((a, b) => b.score - a.score || b.chain - a.chain || b.token - a.token);
  return upsampling > 0 ? farApart(pooled, points) : pooled.slice(0, points);
}

/**
 * From the best on, always the one farthest from all chosen ones, whatever chains they are in. What was
 * chosen is looked up by its place alone: the published code mixes up chains here.
 */
function farApart<C extends { token: number }>(pooled: readonly C[], count: number): C[] {
  const left = pooled.map(({ token }) => token);
  const chosen = left.splice(0, 1);
  while (chosen.length < count && left.length > 0) {
    const distance = (token: number) => Math.min(...chosen.map((c) => Math.abs(c - token)));
    let best = 0;
    for (let i = 1; i < left.length; i++) {
      if (distance(left[i]!) > distance(left[best]!)) best = i;
    }
    chosen.push(...left.splice(best, 1));
  }
  return chosen.map((token) => pooled.find((one) => one.token === token)!);
}

/** The trajectories of each tree, in the order of creation. */
function byTree(chains: readonly PlannedChain[]): PlannedChain[][] {
  const trees = new Map<number, PlannedChain[]>();
  for (const chain of chains) trees.set(chain.tree, [...(trees.get(chain.tree) ?? []), chain]);
  return [...trees.values()];
}

/** The tokens of highest signal are drawn anew. */
export const treerl = defineRule({
  name: "treerl",
  title: "TreeRL",
  words: "tokens of highest signal are drawn anew",
  // m, l, n and t of the paper; `use_diverse_sampling`, `diverse_upsampling`.
  settings: {
    trees: count(6, "trees per prompt, each from one chain"),
    rounds: count(1, "rounds of branching", 0),
    points: count(2, "Places chosen per tree and round"),
    rows: count(2, "trajectories from every place"),
    signal: signal("surprisal"),
    upsampling: count(0, "above 0, places lie far apart, chosen from so many times more", 0),
    maxLength: count(7144, "tokens of a first chain that count"),
  },
  trajectories: ({ trees, rounds, points, rows }) => ({
    ...{ n: trees * (1 + rounds * points * rows), initialRollouts: trees },
  }),
  preset: { sampling: { temperature: 1.2, topK: -1, topP: 0.95 } },
  readsText: true,
  wanted: ({ points, upsampling }) => points * Math.max(1, upsampling),
  plan: (chain, { signal: by, maxLength }, reading) =>
    beforeTokens(chain, by, reading, (values, closes) =>
      freeTokens(
        { prefixed: chain.split > chain.start, signal: values },
        closes,
        chain.parent < 0 ? maxLength : undefined,
      ),
    ),
  // All chosen tokens of a tree, then all again, `rows` times.
  choose: (settings, chains) =>
    byTree(chains).flatMap((tree): Choice[] => {
      const ranked = tree.map(({ places }, chain) =>
        places.map((place) => ({ ...place, chain, trajectory: tree[chain]!.id })),
      );
      const chosen = pool(ranked, settings).map((place) => choiceOf(place.trajectory, place));
      return Array.from({ length: settings.rows }, () => chosen).flat();
    }),
  why: ({ signal: by, rows }, { score }) =>
    `${signalWords[by]} ${short(score)}; the token is drawn anew, ${rows} times each time it is chosen`,
});

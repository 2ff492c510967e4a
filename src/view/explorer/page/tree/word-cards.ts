import type { TreeFacts } from "./tree-facts.js";
import { type PageTree, tokenText } from "./unpack-tree.js";
import { type Fault, peaksOf, type Word } from "./what-stands-out.js";

/** A word that could have stood at a place. */
export interface CardWord {
  /** Its place in the vocabulary. */
  place: number;
  probability: number;
  /** What it led to: the right path, or trajectories that left it here; undefined where nobody wrote it. */
  led?: { right: boolean; trajectories: number[] };
}

/** What else could have been written at a place. */
export interface WordCard {
  node: number;
  token: number;
  /** What stands before it. */
  before: string;
  words: CardWord[];
}

const [mostCards, mostWords, before] = [3, 4, 26];

/**
 * The places where most depended on one word: where wrong trajectories left a right path, then where the model was
 * least sure. What was written is always among the words.
 */
export function wordCards(facts: TreeFacts): WordCard[] {
  const { tree, faults, turn, verdicts } = facts;
  // Numbers of tokens would explain nothing.
  if (tree.vocabulary.length === 0) return [];
  const places = new Map<string, { node: number; token: number; faults: Fault[] }>();
  const add = (node: number, token: number, fault?: Fault) => {
    // The same place of the same text may stand in several trajectories.
    const key = textBefore(tree, node, token + 1).join();
    const known = places.get(key) ?? { node, token, faults: [] };
    if (fault) known.faults.push(fault);
    places.set(key, known);
  };
  for (const fault of faults) if (fault) add(fault.right.node, fault.right.token, fault);
  const entropy = ({ node, token }: { node: number; token: number }) =>
    tree.entropies[tree.nodes[node]!.start + token]!;
  const shown = verdicts.includes("right") ? verdicts.indexOf("right") : 0;
  const peaks = (facts.paths[shown] ?? [])
    .flatMap((node) => peaksOf(tree, node).map((word) => peakIn(tree, word)))
    .sort((a, b) => entropy(b) - entropy(a));
  for (const { node, token } of peaks.slice(0, mostCards)) add(node, token);
  return [...places.values()]
    .sort((a, b) => b.faults.length - a.faults.length || entropy(b) - entropy(a))
    .slice(0, mostCards)
    .sort((a, b) => turn[a.node]! - turn[b.node]! || a.token - b.token)
    .map((place) => cardOf(facts, place));
}

/** All tokens before so many of a node, from the prompt on. */
function textBefore(tree: PageTree, node: number, count: number): number[] {
  const parts: number[][] = [];
  for (let [id, left] = [node, count]; id >= 0; id = tree.nodes[id]!.parent, left = Infinity) {
    const { start, length } = tree.nodes[id]!;
    parts.unshift([...tree.tokens.subarray(start, start + Math.min(left, length))]);
  }
  return parts.flat();
}

/** The token of a word at which the model was least sure. */
function peakIn(tree: PageTree, { node, from, to }: Word): { node: number; token: number } {
  const { start } = tree.nodes[node]!;
  let token = from;
  for (let t = from; t <= to; t++)
    if (tree.entropies[start + t]! > tree.entropies[start + token]!) token = t;
  return { node, token };
}

function cardOf(
  { tree, verdicts, paths }: TreeFacts,
  { node, token, faults }: { node: number; token: number; faults: Fault[] },
): WordCard {
  const at = tree.nodes[node]!.start + token;
  const words = new Map<number, CardWord>();
  const isRight = verdicts.some((verdict, i) => verdict === "right" && paths[i]!.includes(node));
  const writers = paths.flatMap((path, i) => (path.includes(node) ? [i] : []));
  const chance = (token: number) => Math.exp(-tree.surprises[token]!);
  const own = tree.tokens[at]!;
  words.set(own, {
    ...{ place: own, probability: chance(at), led: { right: isRight, trajectories: writers } },
  });
  const wrong = new Map<number, CardWord>();
  for (const fault of faults) {
    const wrote = tree.nodes[fault.node]!.start + fault.token;
    const place = tree.tokens[wrote]!;
    const known = wrong.get(place);
    if (known?.led) known.led.trajectories.push(fault.trajectory);
    else {
      const led = { right: false, trajectories: [fault.trajectory] };
      wrong.set(place, { place, probability: chance(wrote), led });
    }
  }
  const often = ({ led }: CardWord) => led?.trajectories.length ?? 0;
  for (const word of [...wrong.values()].sort((a, b) => often(b) - often(a)))
    if (words.size < mostWords) words.set(word.place, word);
  const width = tree.top?.width ?? 0;
  for (let k = 0; k < width && words.size < mostWords; k++) {
    const place = tree.top!.ids[at * width + k]!;
    const probability = Math.exp(-tree.top!.surprises[at * width + k]!);
    if (!Number.isNaN(probability) && !words.has(place)) words.set(place, { place, probability });
  }
  let said = "";
  for (let t = token - 1; t >= 0 && said.length < before; t--)
    said = tokenText(tree, tree.tokens[at - token + t]!) + said;
  // From a word on, where it is cut.
  const cut = said.length > before ? said.slice(-before).replace(/^\S*?(?=[ <])/, "") : said;
  return { node, token, before: cut, words: [...words.values()] };
}

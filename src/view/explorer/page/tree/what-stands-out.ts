import { sameStart, tokensOf } from "./paths.js";
import type { TreeFacts } from "./tree-facts.js";
import { type PageTree, tokenText } from "./unpack-tree.js";

/** A word that the model wrote: the node, its first and last token there, and what it says. */
export interface Word {
  node: number;
  from: number;
  to: number;
  text: string;
}

/** The word at which a trajectory left the path of one that was right, and where that one's word stands. */
export interface Fault extends Word {
  token: number;
  trajectory: number;
  right: { node: number; token: number };
}

/** Below this the model was sure. */
const leastEntropy = 0.3;
const mostPeaks = 12;
const longest = 8;

const isDigits = (text: string) => /^\p{N}+$/u.test(text);
const isLetters = (text: string) => /^\p{L}+$/u.test(text);

/** The whole number or word that a token is a part of. */
export function wordAt(tree: PageTree, node: number, token: number): Word {
  const { start, length } = tree.nodes[node]!;
  const text = (t: number) => tokenText(tree, tree.tokens[start + t]!);
  const own = text(token);
  const goesOn = isDigits(own.trim()) ? isDigits : isLetters(own.trim()) ? isLetters : () => false;
  let [from, to] = [token, token];
  // A token with a space before it begins a word.
  while (from > 0 && to - from < longest && goesOn(text(from)) && goesOn(text(from - 1).trim()))
    from--;
  while (to + 1 < length && to - from < longest && goesOn(text(to + 1))) to++;
  let said = "";
  for (let t = from; t <= to; t++) said += text(t);
  return { node, from, to, text: said };
}

/** The words at which the model was least sure, the least sure first; no marks of the format. */
export function peaksOf(tree: PageTree, node: number): Word[] {
  const { start, length, kind } = tree.nodes[node]!;
  if (kind !== "model" || tree.vocabulary.length === 0) return [];
  const entropy = (t: number) => tree.entropies[start + t]!;
  const open = Array.from({ length }, (_, t) => t).filter((t) => entropy(t) >= leastEntropy);
  open.sort((a, b) => entropy(b) - entropy(a));
  const words: Word[] = [];
  for (const token of open.slice(0, mostPeaks)) {
    const word = wordAt(tree, node, token);
    const isMark = /^\s*([<\\{}]|$)/.test(word.text);
    if (!isMark && !words.some(({ from, to }) => from <= word.to && word.from <= to))
      words.push(word);
  }
  return words;
}

/** The node of a trajectory's path, and its token there, so many tokens from the prompt. */
function placeAt(
  { tree, paths }: Pick<TreeFacts, "tree" | "paths">,
  trajectory: number,
  at: number,
) {
  const node = paths[trajectory]!.find((id) => {
    const { depth, length } = tree.nodes[id]!;
    return depth <= at && at < depth + length;
  });
  return node === undefined ? undefined : { node, token: at - tree.nodes[node]!.depth };
}

/**
 * Of each trajectory that was not right the first word at which it left the path of the right one that it followed
 * longest. Where none was right, or a tool answered otherwise, nothing is claimed.
 */
export function faultsOf(
  facts: Pick<TreeFacts, "tree" | "paths" | "verdicts">,
): (Fault | undefined)[] {
  const { tree, verdicts } = facts;
  const rights = verdicts.flatMap((verdict, one) =>
    verdict === "right" ? [{ one, tokens: tokensOf(tree, one) }] : [],
  );
  return verdicts.map((verdict, trajectory) => {
    if (verdict !== "wrong" && verdict !== "invalid") return undefined;
    const written = tokensOf(tree, trajectory);
    const followed = rights.map(({ one, tokens }) => ({ one, at: sameStart(written, tokens) }));
    const best = followed.sort((a, b) => b.at - a.at)[0];
    if (!best) return undefined;
    const [own, right] = [placeAt(facts, trajectory, best.at), placeAt(facts, best.one, best.at)];
    if (!own || !right) return undefined;
    const isModel = ({ node }: { node: number }) => tree.nodes[node]!.kind === "model";
    if (!isModel(own) || !isModel(right)) return undefined;
    return { ...wordAt(tree, own.node, own.token), token: own.token, trajectory, right };
  });
}

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

import { sameStart, tokensOf } from "./paths.js";
import { type PageTree, tokenText } from "./unpack-tree.js";

/** A tree's trajectories: their nodes, and how each ended. */
interface Trajectories {
  tree: PageTree;
  paths: readonly (readonly number[])[];
  verdicts: readonly (string | undefined)[];
}

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
function placeAt({ tree, paths }: Trajectories, trajectory: number, at: number) {
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
export function faultsOf(facts: Trajectories): (Fault | undefined)[] {
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

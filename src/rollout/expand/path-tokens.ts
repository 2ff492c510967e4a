import * as exact from "../../base/exact/index.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { ratedCandidates } from "../branch/family/future-value.js";
import { type BranchSignal, factsOf, type OwnSignal } from "../branch/family/signals.js";
import { isClosing, isMeaningless } from "../branch/family/token-words.js";
import { pathOf, type RolloutTreeData } from "../tree/tree-data.js";
import type { TrajectoryEnd, TrajectoryKind, TreeNode } from "../tree/tree-values.js";

/** What the rules read of a span of a trajectory. */
type PathNode = Pick<
  TreeNode,
  "kind" | "trajectory" | "round" | "tokens" | "logprobs" | "entropies" | "top"
>;

/** A trajectory from where its tree starts to its end. */
export interface Chain {
  id: number;
  kind: TrajectoryKind;
  /** The trajectory it left; -1 for none. */
  parent: number;
  /** The first trajectory of its tree. */
  tree: number;
  /** Tokens of the response before the tree starts: a fork's prefix. */
  start: number;
  /** Tokens of the response that it shares with its parent. */
  split: number;
  nodes: readonly PathNode[];
  /** Tokens of the response, all told. */
  length: number;
  /** Why it ended, where it has. */
  end?: TrajectoryEnd | undefined;
}

/** Who wrote a trajectory's tokens, from some place in the response on. */
interface PathTokens {
  ids: Int32Array;
  /** 1 where a policy drew the token, for this trajectory or for one that it left. */
  drawn: Uint8Array;
}

/** Most likely alternatives that count in a cut-off entropy, as published. */
const topCount = 10;

/** -sum p ln p over the most likely alternatives of a token as reported: not renormalised, never below 0. */
export function topEntropy(top: TreeNode["top"], at: number): number {
  if (!top) return NaN;
  let sum = 0;
  for (let k = 0; k < Math.min(topCount, top.width); k++) {
    const l = top.logprobs[at * top.width + k]!;
    if (l > -Infinity) sum -= exact.exp(l) * l;
  }
  return Math.max(0, sum);
}

/** The nodes that reach beyond a place, each with where it begins behind that place. */
function* nodesFrom({ nodes, start }: Chain, from: number): Generator<[PathNode, at: number]> {
  let at = start - from;
  for (const node of nodes) {
    if (at + node.tokens.length > 0) yield [node, at];
    at += node.tokens.length;
  }
}

/** A trajectory's tokens from a place that a node begins at, and who wrote them. */
export function pathTokens(chain: Chain, from = chain.start): PathTokens {
  const ids = new Int32Array(chain.length - from);
  const drawn = new Uint8Array(chain.length - from);
  for (const [{ tokens, kind }, at] of nodesFrom(chain, from)) {
    ids.set(tokens, at);
    if (kind === "model") drawn.fill(1, at, at + tokens.length);
  }
  return { ids, drawn };
}

/** A signal at each of those tokens; NaN where none was drawn or the policy did not tell. */
export function signalOf(chain: Chain, signal: BranchSignal, from = chain.start): Float64Array {
  const { compares } = factsOf(signal);
  if (compares) return comparedSignal(chain, compares).subarray(from - chain.start);
  const values = new Float64Array(chain.length - from).fill(NaN);
  for (const [node, at] of nodesFrom(chain, from)) {
    if (node.kind !== "model") continue;
    const { length } = node.tokens;
    for (let t = 0; t < length; t++) values[at + t] = valueAt(node, t, signal as OwnSignal);
  }
  return values;
}

/** The score of every token drawn among those of its trajectory, as far as a signal tells it. */
function comparedSignal(chain: Chain, by: OwnSignal): Float64Array {
  const { drawn } = pathTokens(chain);
  const scores = new Float64Array(drawn.length).fill(NaN);
  const trajectory = { mask: drawn, blank: [], entropies: signalOf(chain, by) };
  for (const { token, score } of ratedCandidates(0, trajectory)) scores[token] = score;
  return scores;
}

function valueAt(node: PathNode, at: number, signal: OwnSignal): number {
  switch (signal) {
    case "entropy":
      return node.entropies[at]!;
    case "surprisal":
      return -node.logprobs[at]!;
    case "top-entropy":
      return topEntropy(node.top, at);
  }
}

/** A place itself or, where a tool answers there, the place behind the answer. */
export function beyondResults({ nodes, start }: Pick<Chain, "nodes" | "start">) {
  const results: [from: number, to: number][] = [];
  let at = start;
  for (const { kind, tokens } of nodes) {
    if (kind === "tool") results.push([at, at + tokens.length]);
    at += tokens.length;
  }
  return (place: number): number =>
    results.find(([from, to]) => place >= from && place < to)?.[1] ?? place;
}

/** A span from behind one tool result to the end of the next. */
interface Turn {
  /** Where its first drawn token is, counted in the response. */
  start: number;
  end: number;
  /** The tokens of its last generate call, counted in the response. */
  called: readonly [from: number, to: number];
}

/** The turns of a trajectory, those it shares included. */
export function turnsOf({ nodes, start, length }: Chain): Turn[] {
  const turns: Turn[] = [];
  let begin = start;
  let at = start;
  let call: { key: string; from: number; to: number } | undefined;
  const close = (end: number) => {
    if (end > begin)
      turns.push({ start: begin, end, called: [call?.from ?? end, call?.to ?? end] });
    begin = end;
    call = undefined;
  };
  for (const node of nodes) {
    const from = at;
    at += node.tokens.length;
    if (node.kind === "tool") close(at);
    else if (node.kind === "model") {
      const key = `${node.trajectory}/${node.round}`;
      call = call?.key === key ? { ...call, to: at } : { key, from, to: at };
    }
  }
  close(length);
  return turns;
}

/** The trajectories of a stored tree as the rules see them, in the order of creation. */
export function storedChains(tree: RolloutTreeData): Chain[] {
  const roots: number[] = [];
  return tree.trajectories.map(({ id, kind, parent, leaf, end }) => {
    roots[id] = parent < 0 ? id : roots[parent]!;
    const path = pathOf(tree, leaf);
    const taken = path.filter((node) => node.trajectory < 0); // What a fork took over is its prompt.
    const nodes = path.filter((node) => node.trajectory >= 0);
    const size = (list: typeof path) => list.reduce((sum, node) => sum + node.tokens.length, 0);
    const start = size(taken);
    return {
      ...{ id, kind, parent, tree: roots[id], start, nodes, end },
      split: start + size(nodes.filter((node) => node.trajectory !== id)),
      length: start + size(nodes),
    };
  });
}

/** What the rules ask about the texts of tokens; each token is decoded once. */
export function tokenTexts(tokenizer: Tokenizer | undefined) {
  const known = new Map<
    number,
    { text: string; blank: boolean; meaningless: boolean; closing: boolean }
  >();
  const of = (id: number) => {
    let said = known.get(id);
    if (!said) {
      const text = tokenizer?.decode([id], { skipSpecial: true }) ?? "";
      said = {
        text,
        blank: text.trim() === "",
        meaningless: isMeaningless(text),
        closing: isClosing(text),
      };
      known.set(id, said);
    }
    return said;
  };
  return {
    textOf: (id: number) => of(id).text,
    isBlank: (id: number) => of(id).blank,
    isMeaningless: (id: number) => of(id).meaningless,
    isClosing: (id: number) => of(id).closing,
  };
}

import { count, figure } from "../../../common/options/setting.js";
import type { Random } from "../../base/random/random.js";
import { type PlannedChain, plannedTurns } from "../expand/plan-chains.js";
import { turnOutlines } from "../expand/turn-outline.js";
import { defineRule } from "./definition.js";
import { short, signal, signalWords } from "./settings.js";
import { innerNodes, leavesOf, type Outline, withLeaves } from "../branch/family/outline.js";

/** A turn with the signal of its last generate call; the published one is its mean surprisal. */
export interface TurnOutline extends Outline {
  entropy?: number;
  children?: readonly TurnOutline[];
}

/** A turn that may be written anew, and how much it asks for it. */
export interface RankedTurn<N> {
  turn: N;
  /** The turn above it; the root stands below itself. */
  above: N;
  score: number;
}

/**
 * AT2PO's candidates, level by level: the root and every turn that is not a leaf, with its signal less
 * `penalty` for every sibling (for the root: for every child but one).
 */
export function at2poCandidates<N extends TurnOutline>(root: N, penalty = 0.05): RankedTurn<N>[] {
  const above = new Map<N, N>([[root, root]]);
  for (const node of innerNodes(root)) {
    for (const child of (node.children ?? []) as readonly N[]) above.set(child, node);
  }
  return innerNodes(root).map((turn) => {
    const parent = above.get(turn)!;
    const siblings = Math.max(0, (parent.children ?? []).length - 1);
    return { turn, above: parent, score: (turn.entropy ?? 0) - penalty * siblings };
  });
}

/**
 * The turns that AT2PO writes anew in one iteration: the `count` best, equal ones in their order; fewer
 * than that are gone through again from the best.
 */
export function at2poExpand<N extends TurnOutline>(
  root: N,
  count: number,
  penalty?: number,
): RankedTurn<N>[] {
  const best = at2poCandidates(root, penalty).sort((a, b) => b.score - a.score);
  return Array.from({ length: count }, (_, i) => best[i % best.length]!);
}

/**
 * The leaves that AT2PO trains on, level by level: with more than `count`, those at `kept` (places in
 * that order) stay; with fewer, the last one is repeated.
 */
export function at2poLeaves<N extends Outline>(
  root: N,
  count: number,
  kept: readonly number[],
): N[] {
  const leaves = leavesOf(root);
  if (leaves.length > count) {
    return leavesOf(withLeaves(root, new Set(kept.map((at) => leaves[at]!.id))));
  }
  const last = leaves.at(-1);
  return last ? Array.from({ length: count }, (_, i) => leaves[i] ?? last) : [];
}

/** AT2PO has one tree per prompt, whatever trajectories it starts with. */
const oneTree = (chains: readonly PlannedChain[]): PlannedChain[] =>
  chains.map((chain) => ({ ...chain, tree: chains[0]!.id }));

/** Without replacement where there are enough. */
function atRandom<T>(items: readonly T[], size: number, random: Random): T[] {
  const draws = random.split("turns");
  if (items.length >= size) return draws.shuffle(items).slice(0, size);
  return Array.from({ length: size }, () => draws.choose(items));
}

/** The turns of highest signal are written anew. */
export const at2po = defineRule({
  name: "at2po",
  title: "AT2PO",
  words: "turns of highest signal are written anew",
  // `expansion_iterations`, and `beam_size`: turns written anew per round.
  settings: {
    rounds: count(2, "rounds of branching", 0),
    points: count(6, "Places chosen per tree and round"),
    signal: signal("surprisal"),
    penalty: figure(0.05, "what every sibling takes off a turn's signal"),
  },
  usual: { n: 22, initialRollouts: 10 },
  preset: {},
  plan: (chain, { signal: by }, reading) => ({
    turns: plannedTurns(chain, by === "random" ? undefined : by, reading),
  }),
  choose: ({ points, penalty, signal: by }, chains, { random }) =>
    turnOutlines(oneTree(chains)).flatMap((root) => {
      const chosen =
        by === "random"
          ? atRandom(innerNodes(root), points, random).map((turn) => ({ turn, score: 0 }))
          : at2poExpand(root, points, penalty);
      return chosen.map(({ turn, score }) => ({
        ...{ trajectory: turn.trajectory, at: turn.start, score },
      }));
    }),
  keep(_, chains, { n, random }) {
    const [root] = turnOutlines(oneTree(chains));
    if (!root) return [];
    const places = random.shuffle(leavesOf(root).map((_, i) => i)).slice(0, n);
    return at2poLeaves(root, n, places).map(({ trajectory }) => trajectory);
  },
  fills: false,
  why: ({ signal: by, penalty }, { score }) =>
    by === "random"
      ? "drawn at random among the prompt and the turns that end with a call"
      : `mean ${signalWords[by]} of the turn's last call, less ${short(penalty)} for every sibling: ${short(score)}; the turn is written anew`,
});

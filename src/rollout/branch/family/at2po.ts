import { innerNodes, leavesOf, type Outline, withLeaves } from "./outline.js";

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

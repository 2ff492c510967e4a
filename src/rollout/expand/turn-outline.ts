import type { Outline } from "../branch/family/outline.js";

/** A turn of a trajectory, as the rules that choose turns are told of it. */
export interface PlannedTurn {
  /** Where its first drawn token is, and where it ends, its tool's result included. */
  start: number;
  end: number;
  /** The mean signal of its last generate call. */
  signal: number;
}

/** What an outline is made of. */
interface TurnChain {
  id: number;
  parent: number;
  tree: number;
  start: number;
  split: number;
  length: number;
  turns: readonly PlannedTurn[];
}

/** A turn in its tree, and the trajectory that wrote it. */
export interface TurnNode extends Outline {
  trajectory: number;
  start: number;
  end: number;
  entropy: number;
  children: TurnNode[];
}

/** The turns of each tree, from its trajectories in the order of creation. */
export function turnOutlines(chains: readonly TurnChain[]): TurnNode[] {
  const roots = new Map<number, TurnNode>();
  const paths = new Map<number, TurnNode[]>();
  for (const { id, parent, tree, start, split, length, turns } of chains) {
    let root = roots.get(tree);
    if (!root) {
      root = { id: `tree ${tree}`, trajectory: tree, start, end: start, entropy: 0, children: [] };
      roots.set(tree, root);
    }
    const path = (paths.get(parent) ?? []).filter(({ end }) => end <= split);
    const own = turns.filter(({ end }) => end > split);
    if (own.length === 0) own.push({ start: split, end: length, signal: 0 });
    for (const [i, { start: from, end, signal: entropy }] of own.entries()) {
      const node = { id: `${id}/${i}`, trajectory: id, start: from, end, entropy, children: [] };
      (path.at(-1) ?? root).children.push(node);
      path.push(node);
    }
    paths.set(id, path);
  }
  return [...roots.values()];
}

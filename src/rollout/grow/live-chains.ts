import type { Chain } from "../expand/path-tokens.js";
import type { LiveNode } from "./live-trajectory.js";
import type { TreeRun } from "./tree-run.js";

/** The trajectories of a growing tree as the rules see them, in the order of creation. */
export function liveChains(run: TreeRun): Chain[] {
  const roots: number[] = [];
  const start = run.prefixTokens.length;
  return run.trajectories.map(({ id, kind, parent, leaf, split, length }) => {
    roots[id] = parent < 0 ? id : roots[parent]!;
    const nodes: LiveNode[] = [];
    for (let node = leaf; node && node.trajectory >= 0; node = node.parent) nodes.push(node);
    return { id, kind, parent, tree: roots[id], start, split, length, nodes: nodes.reverse() };
  });
}

import { pathOf, type RolloutTreeData } from "../tree/tree-data.js";
import type { Chain } from "./path-tokens.js";

/** The trajectories of a stored tree as the rules see them, in the order of creation. */
export function storedChains(tree: RolloutTreeData): Chain[] {
  const roots: number[] = [];
  return tree.trajectories.map(({ id, kind, parent, leaf }) => {
    roots[id] = parent < 0 ? id : roots[parent]!;
    const path = pathOf(tree, leaf);
    const taken = path.filter((node) => node.trajectory < 0); // What a fork took over is its prompt.
    const nodes = path.filter((node) => node.trajectory >= 0);
    const size = (list: typeof path) => list.reduce((sum, node) => sum + node.tokens.length, 0);
    const start = size(taken);
    return {
      ...{ id, kind, parent, tree: roots[id], start, nodes },
      split: start + size(nodes.filter((node) => node.trajectory !== id)),
      length: start + size(nodes),
    };
  });
}

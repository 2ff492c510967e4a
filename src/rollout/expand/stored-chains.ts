import { pathOf, type RolloutTreeData } from "../tree/tree-data.js";
import type { Chain } from "./path-tokens.js";

/** The rows of a stored tree as the rules see them, in the order of creation. */
export function storedChains(tree: RolloutTreeData): Chain[] {
  const roots: number[] = [];
  return tree.rows.map(({ row, kind, parent, leaf }) => {
    roots[row] = parent < 0 ? row : roots[parent]!;
    const path = pathOf(tree, leaf);
    const taken = path.filter((node) => node.row < 0); // What a fork took over is its prompt.
    const nodes = path.filter((node) => node.row >= 0);
    const size = (list: typeof path) => list.reduce((sum, node) => sum + node.tokens.length, 0);
    const start = size(taken);
    return {
      ...{ row, kind, parent, tree: roots[row], start, nodes },
      split: start + size(nodes.filter((node) => node.row !== row)),
      length: start + size(nodes),
    };
  });
}

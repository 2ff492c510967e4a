import type { Chain } from "../expand/path-tokens.js";
import type { LiveNode } from "./live-row.js";
import type { TreeRun } from "./tree-run.js";

/** The rows of a growing tree as the rules see them, in the order of creation. */
export function liveChains(run: TreeRun): Chain[] {
  const roots: number[] = [];
  const start = run.prefixTokens.length;
  return run.rows.map(({ row, kind, parent, leaf, split, length }) => {
    roots[row] = parent < 0 ? row : roots[parent]!;
    const nodes: LiveNode[] = [];
    for (let node = leaf; node && node.row >= 0; node = node.parent) nodes.push(node);
    return { row, kind, parent, tree: roots[row], start, split, length, nodes: nodes.reverse() };
  });
}

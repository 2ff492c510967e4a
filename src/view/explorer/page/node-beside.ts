import { laneOf, nearestNode } from "./paths.js";
import type { ShownTree } from "./shown-tree.js";

/** Where an arrow key leads from the selected node: -1 for nowhere, undefined for other keys. */
export function nodeBeside({ tree, spans, selected }: ShownTree, key: string): number | undefined {
  const current = Math.max(0, selected);
  const trajectory = laneOf(tree, current);
  const beside: Record<string, () => number> = {
    ArrowLeft: () => Math.max(0, tree.nodes[current]!.parent),
    ArrowRight: () =>
      tree.nodes.findIndex((node, i) => node.parent === current && laneOf(tree, i) === trajectory),
    ArrowUp: () => nearestNode(tree, spans, trajectory - 1, spans[current]!.from),
    ArrowDown: () => nearestNode(tree, spans, trajectory + 1, spans[current]!.from),
  };
  const move = beside[key];
  return move && (selected < 0 ? 0 : move());
}

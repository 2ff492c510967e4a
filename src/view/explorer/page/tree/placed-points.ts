import type { ReplayPoint } from "../../../../rollout/replay/replay-result.js";
import { pathOf } from "./paths.js";
import type { PageTree } from "./unpack-tree.js";

/** Branches at one place: the node that the place is in or at the end of, and tokens of it before the place. */
export interface PlacedPoints {
  node: number;
  offset: number;
  points: ReplayPoint[];
}

/** Where the branches of a rule that looks at what was written lie in the tree. */
export function placedPoints(tree: PageTree, points: readonly ReplayPoint[]): PlacedPoints[] {
  const found = new Map<string, PlacedPoints>();
  for (const point of points) {
    const path = pathOf(tree, point.trajectory);
    const node =
      path.find((id) => tree.nodes[id]!.depth + tree.nodes[id]!.length >= point.at) ?? path.at(-1);
    if (node === undefined) continue;
    const offset = Math.max(0, point.at - tree.nodes[node]!.depth);
    const key = `${node} ${offset}`;
    const known = found.get(key) ?? { node, offset, points: [] };
    known.points.push(point);
    found.set(key, known);
  }
  return [...found.values()];
}

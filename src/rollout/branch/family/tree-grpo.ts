import { innerNodes, type Outline } from "./outline.js";

/**
 * Tree-GRPO's choice of steps to expand: for each draw in [0, 1) one of the root and the steps that are
 * not leaves, level by level, all equally likely and with replacement. Entropy plays no part.
 */
export function treeGrpoExpand<N extends Outline>(root: N, draws: readonly number[]): N[] {
  const candidates = innerNodes(root);
  return draws.map((u) => candidates[Math.floor(u * candidates.length)]!);
}

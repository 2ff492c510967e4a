import { checkArguments } from "../../../arguments/check-arguments.js";
import { innerNodes, type Outline } from "./outline.js";

/**
 * Tree-GRPO's choice of steps to expand: for each draw in [0, 1) one of the root and the steps that are
 * not leaves, level by level, all equally likely and with replacement. Entropy plays no part.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { treeGrpoExpand } from "arpo-lab/experimental/family";
 *
 * const tree = { id: "prompt", children: [{ id: "call", children: [{ id: "answer" }] }] };
 * const chosen = treeGrpoExpand(tree, [0.1, 0.7]).map((step) => step.id);
 * assert.deepEqual(chosen, ["prompt", "call"]);
 * ```
 */
export function treeGrpoExpand<N extends Outline>(root: N, draws: readonly number[]): N[] {
  checkArguments("expand a tree", { root, draws }, { root: "object", draws: "list" });
  const candidates = innerNodes(root);
  return draws.map((u) => candidates[Math.floor(u * candidates.length)]!);
}

import type { RolloutTree } from "./rollout-tree.js";
import { showTree } from "./show-tree.js";

/**
 * How trees show themselves: text and a picture, until `arpo-lab/view` is loaded (`arpo-lab` loads it)
 * and puts the explorer here. Rollouts know nothing of views.
 */
export const treeDisplay: { show: (tree: RolloutTree) => Record<string, string> } = {
  show: showTree,
};

import { RolloutTree } from "../rollout-tree.js";
import type { TreeNode } from "../tree/tree-values.js";

function narrowed(node: TreeNode, most: number): TreeNode {
  const { top, tokens } = node;
  if (!top || top.width <= most) return node;
  if (most < 1) return { ...node, top: undefined };
  const { width } = top;
  const places = Array.from(tokens, (_, t) =>
    Array.from({ length: most }, (_, k) => t * width + k),
  ).flat();
  const ids = Int32Array.from(places, (at) => top.ids[at]!);
  const logprobs = Float32Array.from(places, (at) => top.logprobs[at]!);
  return { ...node, top: { width: most, ids, logprobs } };
}

/** The same tree with no more alternatives of a node's tokens than `most` says. */
export function withAlternatives(tree: RolloutTree, most: (node: number) => number): RolloutTree {
  const nodes = tree.nodes.map((node) => narrowed(node, most(node.id)));
  const { tokenizer } = tree;
  return new RolloutTree({ ...tree, nodes }, tokenizer && { tokenizer });
}

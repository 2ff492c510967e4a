import { type CreditTree, leafSums, pathTo, type TreeInput } from "./credit-tree.js";
import { Credit, type CreditSum, short } from "./credit.js";

/**
 * Tree-GRPO's `tree_diff`, which its published runs do not use: how much better a step's rows end than
 * its parent's, plus how well they end, over the root of their number. A span's last token and all of
 * the leaf's own step get 0, as in the code.
 */
export function treeDiff(input: TreeInput, { margin = 0.1 } = {}): Credit {
  const { tree, leaves, mask } = input;
  const sumOf = treeDiffSums(tree, margin);
  return new Credit(
    leaves.map((leaf) => {
      let start = 0;
      return pathTo(tree, leaf)
        .slice(0, -1)
        .map((node) => {
          const end = start + tree.nodes[node]!.tokens;
          const span = { start, end: end - 1, sum: sumOf(node) };
          start = end;
          return span;
        });
    }),
    mask,
  );
}

/** What every node below the prompt is worth. */
export function treeDiffSums(tree: CreditTree, margin: number): (node: number) => CreditSum {
  const { sum, count } = leafSums(tree);
  const mean = (node: number) => sum[node]! / count[node]!;
  return (node) => {
    const own = mean(node);
    const above = mean(tree.nodes[node]!.parent);
    return {
      terms: [
        {
          name: "better than its parent",
          value: Math.max(own - above - margin, 0),
          from: `max(${short(own)} - ${short(above)} - ${margin}, 0)`,
        },
        { name: "mean of the rows below", value: own },
      ],
      factors: [
        {
          name: "over the root of their number",
          value: 1 / Math.sqrt(count[node]!),
          from: `1 / √${count[node]}`,
        },
      ],
    };
  };
}

import { checkArguments } from "../../arguments/check-arguments.js";
import { breadthFirst, leavesOf, type Outline } from "../../rollout/branch/family/outline.js";

/** A node that adds so many tokens; a score marks a leaf. */
export interface ScoredOutline extends Outline {
  tokens: number;
  score?: number;
  children?: readonly ScoredOutline[];
}

/** Tree-GRPO's scores of nodes by id, and what the tokens of each leaf's row get of them. */
export interface TreeDifference {
  /** Sums of the leaves' scores below. */
  sums: Map<string, number>;
  final: Map<string, number>;
  tokens: Map<string, number[]>;
}

/**
 * Tree-GRPO's `tree_diff` reward, which its published runs do not use: (q + max(q - q of the parent -
 * margin, 0)) / √n for every node, with n leaves below it and their mean score q. Its span of tokens gets
 * that but for the last of them; the leaf's own step gets 0.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { treeDifference } from "arpo-lab/learn";
 *
 * const leaves = [{ id: "right", tokens: 1, score: 1 }, { id: "wrong", tokens: 1, score: 0 }];
 * const call = { id: "call", tokens: 2, children: leaves };
 * const { final, tokens } = treeDifference({ id: "prompt", tokens: 0, children: [call] });
 * assert.equal(final.get("right"), 1.4);
 * assert.deepEqual(tokens.get("right")!.slice(1), [0, 0]);
 * ```
 */
export function treeDifference(root: ScoredOutline, margin = 0.1): TreeDifference {
  checkArguments("score a tree", { root, margin }, { root: "object", margin: "number" });
  const sums = new Map<string, number>();
  const counts = new Map<string, number>();
  const measure = (node: ScoredOutline): [sum: number, count: number] => {
    const below = (node.children ?? []).map(measure);
    const own: [number, number] =
      below.length === 0
        ? [node.score ?? 0, 1]
        : [below.reduce((s, [sum]) => s + sum, 0), below.reduce((s, [, n]) => s + n, 0)];
    sums.set(node.id, own[0]);
    counts.set(node.id, own[1]);
    return own;
  };
  measure(root);
  const mean = ({ id }: ScoredOutline) => sums.get(id)! / counts.get(id)!;
  const above = new Map<ScoredOutline, ScoredOutline>();
  for (const node of [root, ...breadthFirst(root)]) {
    for (const child of node.children ?? []) above.set(child, node);
  }
  const final = new Map(
    breadthFirst(root).map((node) => {
      const rise = Math.max(mean(node) - mean(above.get(node)!) - margin, 0);
      return [node.id, (rise + mean(node)) / Math.sqrt(counts.get(node.id)!)];
    }),
  );
  const tokens = new Map(
    leavesOf(root).map((leaf) => {
      const path: ScoredOutline[] = [];
      for (let node = leaf; node !== root; node = above.get(node)!) path.unshift(node);
      const row = path.flatMap((node) => {
        const told = node === leaf ? 0 : final.get(node.id)!;
        const span = new Array<number>(node.tokens).fill(told);
        if (node !== leaf && span.length > 0) span[span.length - 1] = 0;
        return span;
      });
      return [leaf.id, row];
    }),
  );
  return { sums, final, tokens };
}

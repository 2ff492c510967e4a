import type { Rows } from "../advantage/masked.js";
import type { CreditSpan, CreditSum } from "./credit.js";

/** A stretch of a tree as credit rules read it. */
export interface CreditNode {
  /** The node it continues, by its place in the list; -1 for the prompt. */
  parent: number;
  /** Tokens it adds to a row. */
  tokens: number;
  /** The reward of the row that ends here; inner nodes have none. */
  score?: number;
  /** What at2po weighs children by: the mean surprisal of what the model wrote last in it. */
  entropy?: number;
}

/** A prompt and everything below it: parents come before their children, the first node is the prompt. */
export interface CreditTree {
  nodes: readonly CreditNode[];
}

/** A tree and its rows, for credit that stands on nodes. */
export interface TreeInput {
  tree: CreditTree;
  /** The leaf that each row ends at. */
  leaves: readonly number[];
  /** One list per row, as long as its tokens. */
  mask: Rows;
}

/** The children of every node, in the order of creation. */
export function childrenOf({ nodes }: CreditTree): number[][] {
  const children: number[][] = nodes.map(() => []);
  nodes.forEach(({ parent }, node) => {
    if (parent >= 0) children[parent]!.push(node);
  });
  return children;
}

/** The nodes from below the prompt to a node, that node included. */
export function pathTo({ nodes }: CreditTree, node: number): number[] {
  const path: number[] = [];
  for (let at = node; nodes[at]!.parent >= 0; at = nodes[at]!.parent) path.push(at);
  return path.reverse();
}

/** The nodes below one, that one included, level by level. */
export function breadthFirst(children: readonly (readonly number[])[], from = 0): number[] {
  const order = [from];
  // The list grows while it is walked.
  for (const node of order) order.push(...children[node]!);
  return order;
}

/** The leaves below a node, level by level. */
export function leavesOf(
  { nodes }: CreditTree,
  children: readonly (readonly number[])[],
  from = 0,
): number[] {
  return breadthFirst(children, from).filter((node) => nodes[node]!.score !== undefined);
}

/** Sum and number of the leaves' scores below every node. */
export function leafSums({ nodes }: CreditTree): { sum: number[]; count: number[] } {
  const sum = nodes.map(({ score = 0 }) => score);
  const count = nodes.map(({ score }) => (score === undefined ? 0 : 1));
  for (let node = nodes.length - 1; node > 0; node--) {
    const { parent } = nodes[node]!;
    sum[parent]! += sum[node]!;
    count[parent]! += count[node]!;
  }
  return { sum, count };
}

/** What each node's value is when an inner one's comes from its children's. */
export function bottomUp<T>(
  tree: CreditTree,
  leaf: (node: number) => T,
  inner: (node: number, children: readonly number[], values: readonly T[]) => T,
): T[] {
  const children = childrenOf(tree);
  const values: T[] = [];
  for (let node = tree.nodes.length - 1; node >= 0; node--) {
    const own = children[node]!;
    values[node] =
      own.length === 0
        ? leaf(node)
        : inner(
            node,
            own,
            own.map((child) => values[child]!),
          );
  }
  return values;
}

/** A row's tokens by the nodes on its path, each with its own sum; nodes that add nothing are left out. */
export function pathSpans(
  tree: CreditTree,
  leaf: number,
  sumOf: (node: number) => CreditSum,
): CreditSpan[] {
  let at = 0;
  return pathTo(tree, leaf).flatMap((node) => {
    const start = at;
    at += tree.nodes[node]!.tokens;
    return at > start ? [{ start, end: at, sum: sumOf(node) }] : [];
  });
}

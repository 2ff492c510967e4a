import type { PageTree } from "./unpack-tree.js";

/** The nodes of a trajectory from the prompt to its leaf. */
export function pathOf(tree: PageTree, trajectory: number): number[] {
  const path: number[] = [];
  for (let id = tree.trajectories[trajectory]!.leaf; id >= 0; id = tree.nodes[id]!.parent)
    path.push(id);
  return path.reverse();
}

/** A trajectory's tokens, from the prompt on. */
export function tokensOf(tree: PageTree, trajectory: number): number[] {
  return pathOf(tree, trajectory).flatMap((id) => {
    const { start, length } = tree.nodes[id]!;
    return [...tree.tokens.subarray(start, start + length)];
  });
}

/** How many tokens two lists have in common from the start. */
export function sameStart(one: ArrayLike<number>, two: ArrayLike<number>): number {
  const most = Math.min(one.length, two.length);
  let same = 0;
  while (same < most && one[same] === two[same]) same++;
  return same;
}

/** How many tokens two trajectories have in common from the start. */
export const sharedTokens = (tree: PageTree, a: number, b: number): number =>
  sameStart(tokensOf(tree, a), tokensOf(tree, b));

/** From where to where something reaches. */
interface Span {
  from: number;
  to: number;
}

/** Where each node begins and ends: in tokens from the prompt, or in milliseconds. */
export function spansOf(tree: PageTree, along: "tokens" | "time"): Span[] {
  const spans: Span[] = [];
  for (const { depth, length, parent, began, ended } of tree.nodes) {
    // An end token put by the rules took no time.
    const before = spans[parent]?.to ?? 0;
    const timed = { from: began ?? before, to: ended ?? began ?? before };
    spans.push(along === "time" ? timed : { from: depth, to: depth + length });
  }
  return spans;
}

/** The trajectory that a node is drawn in; what a fork took over lies in the first. */
export function laneOf(tree: PageTree, node: number): number {
  return Math.max(0, tree.nodes[node]!.trajectory);
}

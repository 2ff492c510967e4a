import type { RolloutTree } from "../../rollout/rollout-tree.js";

/** What a tree of other people's trajectories is called: no seed and no rule made it. */
export function titleOfImported({ trajectories, nodes }: RolloutTree): string {
  const many = (count: number, one: string, several = `${one}s`) =>
    `${count} ${count === 1 ? one : several}`;
  const tokens = nodes.reduce((sum, node) => sum + node.tokens.length, 0);
  return [
    many(trajectories.length, "trajectory", "trajectories"),
    many(nodes.length, "segment"),
    many(tokens, "token"),
  ].join(" · ");
}

import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { many } from "../page/words.js";

/** What a tree of other people's trajectories is called: no seed and no rule made it. */
export function titleOfImported({ trajectories, nodes }: RolloutTree): string {
  const tokens = nodes.reduce((sum, node) => sum + node.tokens.length, 0);
  return [
    many(trajectories.length, "trajectory", "trajectories"),
    many(nodes.length, "segment"),
    many(tokens, "token"),
  ].join(" · ");
}

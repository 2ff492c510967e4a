import type { Random } from "../../random/random.js";
import { at2poLeaves } from "../branch/family/at2po.js";
import { leavesOf } from "../branch/family/outline.js";
import type { ExpansionSettings } from "../branch/family/settings.js";
import type { PlannedChain } from "./plan-chains.js";
import { turnOutlines } from "./turn-outline.js";

/** The trajectories that training uses, in the rule's order; a trajectory may be there twice. */
export function keptLeaves(
  settings: ExpansionSettings,
  chains: readonly PlannedChain[],
  { n, random }: { n: number; random: Random },
): number[] {
  switch (settings.rule) {
    case "tree-grpo":
      return turnOutlines(chains).flatMap((root, tree) => {
        const leaves = leavesOf(root);
        const order = random.split(tree).shuffle(leaves.map((_, i) => i));
        const kept = new Set(order.slice(0, settings.keep));
        return leaves.flatMap(({ trajectory }, i) => (kept.has(i) ? [trajectory] : []));
      });
    case "at2po": {
      const [root] = turnOutlines(chains.map((chain) => ({ ...chain, tree: chains[0]!.id })));
      if (!root) return [];
      const places = random.shuffle(leavesOf(root).map((_, i) => i)).slice(0, n);
      return at2poLeaves(root, n, places).map(({ trajectory }) => trajectory);
    }
    case "fr3e":
      return chains.flatMap(({ kind, id }) => (kind === "initial" ? [] : [id]));
    default:
      return chains.map(({ id }) => id);
  }
}

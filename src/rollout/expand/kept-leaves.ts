import type { Random } from "../../random/random.js";
import { at2poLeaves } from "../branch/family/at2po.js";
import { leavesOf } from "../branch/family/outline.js";
import type { ExpansionSettings } from "../branch/family/settings.js";
import type { PlannedChain } from "./plan-chains.js";
import { turnOutlines } from "./turn-outline.js";

/** The rows that training uses, in the rule's order; a row may be there twice. */
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
        return leaves.flatMap(({ row }, i) => (kept.has(i) ? [row] : []));
      });
    case "at2po": {
      const [root] = turnOutlines(chains.map((chain) => ({ ...chain, tree: chains[0]!.row })));
      if (!root) return [];
      const places = random.shuffle(leavesOf(root).map((_, i) => i)).slice(0, n);
      return at2poLeaves(root, n, places).map(({ row }) => row);
    }
    case "fr3e":
      return chains.flatMap(({ kind, row }) => (kind === "initial" ? [] : [row]));
    default:
      return chains.map(({ row }) => row);
  }
}

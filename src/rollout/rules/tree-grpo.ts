import { count } from "../../../common/options/setting.js";
import { innerNodes, leavesOf, type Outline } from "../branch/family/outline.js";
import { plannedTurns } from "../expand/plan-chains.js";
import { turnOutlines } from "../expand/turn-outline.js";
import { defineRule } from "./definition.js";

/**
 * Tree-GRPO's choice of steps to expand: for each draw in [0, 1) one of the root and the steps that are
 * not leaves, level by level, all equally likely and with replacement. Entropy plays no part.
 */
export function treeGrpoExpand<N extends Outline>(root: N, draws: readonly number[]): N[] {
  const candidates = innerNodes(root);
  return draws.map((u) => candidates[Math.floor(u * candidates.length)]!);
}

/** Random steps of each tree are continued from; some leaves of each tree are kept. */
export const treeGrpo = defineRule({
  name: "tree-grpo",
  title: "Tree-GRPO",
  words: "after steps drawn at random",
  // m, l, n and k of the paper.
  settings: {
    trees: count(2, "trees per prompt, each from one chain"),
    rounds: count(1, "rounds of branching", 0),
    points: count(2, "Places chosen per tree and round"),
    keep: count(3, "leaves kept per tree"),
  },
  fault({ keep, rounds, points }) {
    const leaves = 1 + rounds * points;
    if (keep <= leaves) return undefined;
    return `expand.keep must be at most the ${leaves} leaves that a tree gets, got ${keep}`;
  },
  trajectories: ({ trees, keep }) => ({ n: trees * keep, initialRollouts: trees }),
  preset: {},
  plan: (chain, _, reading) => ({ turns: plannedTurns(chain, undefined, reading) }),
  choose: ({ points }, chains, { random }) =>
    turnOutlines(chains).flatMap((root, tree) => {
      const draws = random.split(tree);
      const u = Array.from({ length: points }, (_, i) => draws.at(i));
      return treeGrpoExpand(root, u).map(({ trajectory, end }) => ({
        ...{ trajectory, at: end, score: 0 },
      }));
    }),
  keep: ({ keep }, chains, { random }) =>
    turnOutlines(chains).flatMap((root, tree) => {
      const leaves = leavesOf(root);
      const order = random.split(tree).shuffle(leaves.map((_, i) => i));
      const kept = new Set(order.slice(0, keep));
      return leaves.flatMap(({ trajectory }, i) => (kept.has(i) ? [trajectory] : []));
    }),
  fills: false,
  why: () => "drawn at random among the prompt and the steps that end with a tool's answer",
});

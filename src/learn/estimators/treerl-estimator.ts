import { integer } from "../../../common/options/check-options.js";
import { choice, countOrAll, flag, share } from "../../../common/options/setting.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { Random } from "../../base/random/random.js";
import type { CreditSpan } from "./credit.js";
import { defineEstimator } from "./definition.js";
import {
  type Chain,
  chooseLeaves,
  treeRlBonuses,
  treeRlCentres,
  treeRlPaths,
  treeRlWeights,
} from "./treerl.js";
import {
  type CreditTrajectory,
  prompts,
  trajectoryFinder,
  sharedTokens,
} from "./adapt/credit-trajectories.js";

const wasCut = ({ scored }: CreditTrajectory) =>
  ["length", "context"].includes(scored.trajectory.end);

/** Scored trajectories of a tree and all that they go back to, the ones that were left first. */
function withAncestors(tree: RolloutTree, scored: Iterable<number>): number[] {
  const needed = new Set<number>();
  for (let trajectory of scored) {
    for (
      ;
      trajectory >= 0 && !needed.has(trajectory);
      trajectory = tree.trajectories[trajectory]!.parent
    )
      needed.add(trajectory);
  }
  return [...needed].sort((a, b) => a - b);
}

/**
 * A prompt's trajectories as chains, a tree for every initial trajectory; trajectories that are not
 * scored are no leaves.
 */
function chainsOf(trajectories: readonly CreditTrajectory[], own: readonly number[]) {
  const trees: Chain[][] = [];
  /** The scored trajectory behind each chain; -1 for none. */
  const members: number[][] = [];
  const byTree = new Map<RolloutTree, Map<number, number>>();
  for (const trajectory of own) {
    const { tree, scored } = trajectories[trajectory]!;
    const known = byTree.get(tree) ?? new Map<number, number>();
    byTree.set(tree, known);
    if (!known.has(scored.trajectory.id)) known.set(scored.trajectory.id, trajectory);
  }
  for (const [tree, scored] of byTree) {
    const shared = sharedTokens(tree);
    const place = new Map<number, { at: number; chain: number; start: number }>();
    for (const one of withAncestors(tree, scored.keys())) {
      const { parent } = tree.trajectories[one]!;
      // What was left may have been left before its own first token.
      let above = parent;
      while (above >= 0 && place.get(above)!.start > shared[one]!)
        above = tree.trajectories[above]!.parent;
      const left = place.get(above);
      const start = left ? shared[one]! : 0;
      const at = left?.at ?? trees.length;
      const trajectory = scored.get(one);
      const list = (trees[at] ??= []);
      place.set(one, { at, chain: list.length, start });
      (members[at] ??= []).push(trajectory ?? -1);
      list.push({
        ...(left ? { parent: left.chain, split: start - left.start } : {}),
        tokens:
          trajectory === undefined ? 0 : Math.max(0, trajectories[trajectory]!.length - start),
        ...(trajectory === undefined
          ? {}
          : { score: trajectories[trajectory]!.reward, ended: !wasCut(trajectories[trajectory]!) }),
      });
    }
  }
  return { trees, members };
}

export const treeRlEstimator = defineEstimator<{
  /** For the draw of `leaves`. */
  seed?: number;
}>()({
  name: "treerl",
  meaning: "against its parent and the prompt, over √trajectories",
  formula: "(value - root value) + (value - parent's value), of a segment, over √leaves",
  settings: {
    rule: choice(["code", "paper"], "code", "The published code's sums or the paper's"),
    weights: choice(treeRlWeights, "sqrt", "What a segment's sum is divided by"),
    centre: choice(treeRlCentres, "none", "What mean is taken off all sums"),
    bonus: choice(treeRlBonuses, "state", "What is added to the difference to the parent"),
    fill: flag(true, "A segment of value 0 gets its predecessor's"),
    averageChildren: flag(false, "Inner sums are means over the children"),
    penalizeCut: flag(false, "Trajectories that were cut count -1 among the leaves"),
    allAncestors: flag(false, "Differences to all segments above, and nothing else"),
    leaves: countOrAll("Trajectories of a prompt that are trained on; null: all"),
    balance: share(0, "The share of them that is right, and as many wrong"),
    punishCut: flag(true, "Trajectories that were cut get -1 on every token"),
  },
  besides: { seed: integer(0) },
  partial: true,
  preset: { name: "treerl" },
  variants: [{ name: "paper", settings: { rule: "paper" } }],
  spans({ trajectories }, { leaves, balance, seed = 1, punishCut = true, ...rest }) {
    const out: CreditSpan[][] = trajectories.map(() => []);
    const find = trajectoryFinder(trajectories);
    for (const own of prompts(trajectories)) {
      const { trees, members } = chainsOf(trajectories, own);
      const all = members.flat().filter((trajectory) => trajectory >= 0).length;
      const { group } = trajectories[own[0]!]!;
      const random = Random.from(seed).split("treerl").split(group);
      const right = (order: readonly { tree: number; chain: number }[]) =>
        order.map(({ tree, chain }) => trees[tree]![chain]!.score! > 0);
      const first = treeRlPaths(trees, rest);
      const trained =
        leaves === undefined || leaves >= all
          ? undefined
          : chooseLeaves(right(first.forest.chains), leaves, random, balance);
      const { forest, paths } = trained ? treeRlPaths(trees, { ...rest, trained }) : first;
      paths.forEach((path, i) => {
        const { tree, chain } = forest.chains[trained ? trained[i]! : i]!;
        const trajectory = members[tree]![chain]!;
        let start = 0;
        out[trajectory] = path.flatMap(({ tokens, sum }) => {
          const span = { start, end: start + tokens, sum };
          start += tokens;
          return tokens > 0 ? [span] : [];
        });
        if (punishCut && wasCut(trajectories[trajectory]!)) {
          const terms = [{ name: "cut before its end", value: -1 }];
          out[trajectory] = [
            { start: 0, end: trajectories[trajectory]!.length, sum: { terms, factors: [] } },
          ];
        }
      });
    }
    trajectories.forEach(({ tree, scored }, trajectory) => {
      const same = find(tree, scored.trajectory.id);
      if (same !== trajectory) out[trajectory] = out[same]!;
    });
    return out;
  },
});

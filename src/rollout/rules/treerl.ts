import { count } from "../../../common/options/setting.js";
import { freeTokens, pool } from "../branch/family/treerl.js";
import { choiceOf, type Choice } from "../expand/choice.js";
import { beforeTokens, type PlannedChain } from "../expand/plan-chains.js";
import { defineRule } from "./definition.js";
import { short, signal, signalWords } from "./settings.js";

/** The trajectories of each tree, in the order of creation. */
function byTree(chains: readonly PlannedChain[]): PlannedChain[][] {
  const trees = new Map<number, PlannedChain[]>();
  for (const chain of chains) trees.set(chain.tree, [...(trees.get(chain.tree) ?? []), chain]);
  return [...trees.values()];
}

/** The tokens of highest signal are drawn anew. */
export const treerl = defineRule({
  name: "treerl",
  title: "TreeRL",
  words: "tokens of highest signal are drawn anew",
  // m, l, n and t of the paper; `use_diverse_sampling`, `diverse_upsampling`.
  settings: {
    trees: count(6, "trees per prompt, each from one chain"),
    rounds: count(1, "rounds of branching", 0),
    points: count(2, "Places chosen per tree and round"),
    rows: count(2, "trajectories from every place"),
    signal: signal("surprisal"),
    upsampling: count(0, "above 0, places lie far apart, chosen from so many times more", 0),
    maxLength: count(7144, "tokens of a first chain that count"),
  },
  trajectories: ({ trees, rounds, points, rows }) => ({
    ...{ n: trees * (1 + rounds * points * rows), initialRollouts: trees },
  }),
  preset: { sampling: { temperature: 1.2, topK: -1, topP: 0.95 } },
  readsText: true,
  wanted: ({ points, upsampling }) => points * Math.max(1, upsampling),
  plan: (chain, { signal: by, maxLength }, reading) =>
    beforeTokens(chain, by, reading, (values, closes) =>
      freeTokens(
        { prefixed: chain.split > chain.start, signal: values },
        closes,
        chain.parent < 0 ? maxLength : undefined,
      ),
    ),
  // All chosen tokens of a tree, then all again, `rows` times.
  choose: (settings, chains) =>
    byTree(chains).flatMap((tree): Choice[] => {
      const ranked = tree.map(({ places }, chain) =>
        places.map((place) => ({ ...place, chain, trajectory: tree[chain]!.id })),
      );
      const chosen = pool(ranked, settings).map((place) => choiceOf(place.trajectory, place));
      return Array.from({ length: settings.rows }, () => chosen).flat();
    }),
  why: ({ signal: by, rows }, { score }) =>
    `${signalWords[by]} ${short(score)}; the token is drawn anew, ${rows} times each time it is chosen`,
});

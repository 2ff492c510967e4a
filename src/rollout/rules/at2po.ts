import { count, figure } from "../../../common/options/setting.js";
import type { Random } from "../../base/random/random.js";
import { at2poExpand, at2poLeaves } from "../branch/family/at2po.js";
import { innerNodes, leavesOf } from "../branch/family/outline.js";
import { type PlannedChain, plannedTurns } from "../expand/plan-chains.js";
import { turnOutlines } from "../expand/turn-outline.js";
import { defineRule } from "./definition.js";
import { short, signal, signalWords } from "./settings.js";

/** AT2PO has one tree per prompt, whatever trajectories it starts with. */
const oneTree = (chains: readonly PlannedChain[]): PlannedChain[] =>
  chains.map((chain) => ({ ...chain, tree: chains[0]!.id }));

/** Without replacement where there are enough. */
function atRandom<T>(items: readonly T[], size: number, random: Random): T[] {
  const draws = random.split("turns");
  if (items.length >= size) return draws.shuffle(items).slice(0, size);
  return Array.from({ length: size }, () => draws.choose(items));
}

/** The turns of highest signal are written anew. */
export const at2po = defineRule({
  name: "at2po",
  title: "AT2PO",
  words: "turns of highest signal are written anew",
  // `expansion_iterations`, and `beam_size`: turns written anew per round.
  settings: {
    rounds: count(2, "rounds of branching", 0),
    points: count(6, "Places chosen per tree and round"),
    signal: signal("surprisal"),
    penalty: figure(0.05, "what every sibling takes off a turn's signal"),
  },
  usual: { n: 22, initialRollouts: 10 },
  preset: {},
  plan: (chain, { signal: by }, reading) => ({
    turns: plannedTurns(chain, by === "random" ? undefined : by, reading),
  }),
  choose: ({ points, penalty, signal: by }, chains, { random }) =>
    turnOutlines(oneTree(chains)).flatMap((root) => {
      const chosen =
        by === "random"
          ? atRandom(innerNodes(root), points, random).map((turn) => ({ turn, score: 0 }))
          : at2poExpand(root, points, penalty);
      return chosen.map(({ turn, score }) => ({
        ...{ trajectory: turn.trajectory, at: turn.start, score },
      }));
    }),
  keep(_, chains, { n, random }) {
    const [root] = turnOutlines(oneTree(chains));
    if (!root) return [];
    const places = random.shuffle(leavesOf(root).map((_, i) => i)).slice(0, n);
    return at2poLeaves(root, n, places).map(({ trajectory }) => trajectory);
  },
  fills: false,
  why: ({ signal: by, penalty }, { score }) =>
    by === "random"
      ? "drawn at random among the prompt and the turns that end with a call"
      : `mean ${signalWords[by]} of the turn's last call, less ${short(penalty)} for every sibling: ${short(score)}; the turn is written anew`,
});

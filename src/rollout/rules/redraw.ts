import { choiceOf } from "../expand/choice.js";
import { beforeTokens } from "../expand/plan-chains.js";
import { defineRule } from "./definition.js";
import { rankingSignals, short, signal, signalWords } from "./settings.js";

/** The token of greatest signal in each first trajectory is drawn anew, then the next of each, up to n. Ours. */
export const redraw = defineRule({
  name: "redraw",
  title: "Redraw",
  words: "the token of highest signal in each first trajectory is drawn anew",
  settings: { signal: signal("entropy", rankingSignals) },
  usual: { n: 16, initialRollouts: 8 },
  plan: (chain, { signal: by }, reading) =>
    chain.kind === "initial" ? beforeTokens(chain, by, reading) : {},
  // The best place of each first trajectory, then the second best of each: the best first while they last.
  choose(_, chains, { budget }) {
    const turns = Math.max(0, ...chains.map(({ places }) => places.length));
    return Array.from({ length: turns }, (_, turn) =>
      chains
        .flatMap(({ id, places }) =>
          places.slice(turn, turn + 1).map((place) => choiceOf(id, place)),
        )
        .sort((a, b) => b.score - a.score),
    )
      .flat()
      .slice(0, budget);
  },
  why: ({ signal: by }, { score }) => `${signalWords[by]} ${short(score)}; the token is drawn anew`,
});

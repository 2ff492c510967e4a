import { rolloutCandidates } from "../branch/family/appo.js";
import { choiceOf } from "../expand/choice.js";
import { afterTokens } from "../expand/plan-chains.js";
import { nothingLeft } from "./appo.js";
import { defineRule } from "./definition.js";
import { short, signal, signalWords } from "./settings.js";

/** APPO inside the rollout: trajectories continue after uncertain tokens, the first trajectories first. */
export const appoRollout = defineRule({
  name: "appo-rollout",
  title: "APPO (rollout)",
  words: "after uncertain tokens, the first trajectories first",
  settings: { signal: signal("top-entropy") },
  usual: { n: 16, initialRollouts: 8 },
  preset: "rule-only",
  readsText: true,
  plan: (chain, { signal: by }, reading) =>
    chain.kind === "initial"
      ? {
          places: afterTokens(chain, by, reading, ({ own, ids, entropies }) =>
            rolloutCandidates(
              own.map((t) => reading.isMeaningless(ids[t]!)),
              entropies,
            ),
          ),
        }
      : {},
  choose: (_, chains, { budget }) =>
    chains.flatMap(({ id, places }) => places.map((place) => choiceOf(id, place))).slice(0, budget),
  why: ({ signal: by }, { score }) =>
    `z(${signalWords[by]}) = ${short(score)} among tokens that say something; the token stays`,
  spendsBudget: (places) => [...places],
  advice: nothingLeft,
});

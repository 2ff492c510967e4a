import { type BranchPoint, candidatesAboveMean } from "../branch/family/future-value.js";
import { greatest } from "../branch/family/greatest.js";
import { isMeaningless } from "../branch/family/token-words.js";
import { choiceOf } from "../expand/choice.js";
import { afterTokens } from "../expand/plan-chains.js";
import { defineRule, type DrawnTrajectory } from "./definition.js";
import { nothingLeft, short, signal, signalWords } from "./settings.js";

/**
 * Branch points inside a rollout, where nothing but entropy is known yet: blank tokens and
 * punctuation are left out before the z-scores are taken; what is above the mean may be chosen, best first.
 */
export function appoRolloutPoints(
  texts: readonly string[],
  entropies: ArrayLike<number>,
  future?: ArrayLike<number>,
): Omit<BranchPoint, "trajectory">[] {
  // What the sampler did not tell says nothing either way.
  const known = texts.map((_, t) => entropies[t] ?? 0);
  const ahead = future && texts.map((_, t) => future[t] ?? 1);
  return candidatesAboveMean(texts.map(isMeaningless), known, ahead)
    .sort((a, b) => b.score - a.score)
    .map(({ token, score }) => ({ token, score }));
}

/** Inside a rollout: trajectories continue after uncertain tokens, the first trajectories first. */
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
            candidatesAboveMean(
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
  firstAfter({ texts, entropies }: DrawnTrajectory) {
    const found = candidatesAboveMean(texts.map(isMeaningless), entropies);
    const scores = found.map(({ score }) => score);
    return greatest(scores, 1).map((i) => found[i]!.token)[0];
  },
  advice: nothingLeft,
});

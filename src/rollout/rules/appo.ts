import { figure } from "../../../common/options/setting.js";
import {
  type BranchPoint,
  type RatedTrajectory,
  ratedCandidates,
  strictFirst,
  valuesAhead,
} from "../branch/family/future-value.js";
import { choiceOf } from "../expand/choice.js";
import { afterTokens, futureValues } from "../expand/plan-chains.js";
import { defineRule, type DrawnTrajectory } from "./definition.js";
import { nothingLeft, short, signal, signalWords } from "./settings.js";

/**
 * APPO's future value of each token: what the policy of now makes of the rest of its trajectory.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { appoFutureValues } from "arpo-lab/experimental/family";
 *
 * const [all, last] = appoFutureValues([0.1, -0.1], [1, 1], { clip: 0 });
 * assert.ok(Math.abs(all - 1) < 1e-12 && Math.abs(last - Math.exp(-0.1)) < 1e-12);
 * ```
 */
export const appoFutureValues = valuesAhead;

/**
 * APPO's branch points of one prompt: tokens that are uncertain and whose continuation the policy of now
 * values otherwise (both z-scores, and so their product, positive) by score, then the others by score,
 * then the same again until `budget` is spent. Without future values the score is the entropy's z alone.
 */
export function appoBranchPoints(
  trajectories: readonly RatedTrajectory[],
  budget: number,
): BranchPoint[] {
  const order = strictFirst(
    trajectories.flatMap((trajectory, i) => ratedCandidates(i, trajectory)),
  );
  if (order.length === 0) return [];
  return Array.from({ length: budget }, (_, i) => {
    const { trajectory, token, score } = order[i % Math.min(order.length, budget)]!;
    return { trajectory, token, score };
  });
}

declare module "../settings.js" {
  interface RolloutCompat {
    /** `appo`: tokens behind a tool's result are paired with the log-probabilities of later ones. */
    appoAlignment?: boolean;
    /** `appo`: without `current`, the sampler's own weights are read again; only rounding differs. */
    appoMismatch?: boolean;
  }
}

/** Trajectories continue after tokens that are uncertain and of influence. */
export const appo = defineRule({
  name: "appo",
  title: "APPO",
  words: "after tokens that are uncertain and of influence",
  settings: {
    signal: signal("top-entropy"),
    gamma: figure(1, "discount of what is to come"),
    clip: figure(0.2, "the future value stays within 1 plus or minus this; 0: no bound"),
  },
  usual: { n: 16, initialRollouts: 8 },
  preset: {},
  slips: [
    { name: "appoAlignment", changes: "shifted" },
    { name: "appoMismatch", changes: "asksSampler" },
  ],
  readsText: true,
  readsFuture: true,
  plan: (chain, settings, reading) =>
    chain.kind === "initial"
      ? {
          places: afterTokens(chain, settings.signal, reading, ({ own, ids, entropies, seen }) => {
            const future = futureValues(chain, settings, reading, seen?.logprobs);
            return ratedCandidates(0, {
              mask: own.map(() => 1),
              blank: own.map((t) => reading.isBlank(ids[t]!)),
              entropies,
              future: future && own.map((t) => future[t]!),
            });
          }),
        }
      : {},
  choose(_, chains, { budget }) {
    const all = chains.flatMap(({ id, places }) =>
      places.map((place) => ({ ...place, strict: place.strict ?? false, trajectory: id })),
    );
    const taken = strictFirst(all).slice(0, budget);
    if (taken.length === 0) return [];
    return Array.from({ length: budget }, (_, i) => {
      const place = taken[i % taken.length]!;
      return choiceOf(place.trajectory, place);
    });
  },
  why: ({ signal: by }, { score, hasFuture }) =>
    hasFuture
      ? `z(${signalWords[by]}) · z(future) = ${short(score)}; the token stays`
      : `z(${signalWords[by]}) = ${short(score)}, with no other policy to tell the future; the token stays`,
  spendsBudget: strictFirst,
  firstAfter({ texts, entropies, logprobs, current }: DrawnTrajectory) {
    const mask = texts.map(() => 1);
    const future =
      current &&
      valuesAhead(
        current.map((now, t) => now - logprobs[t]!),
        mask,
      );
    const blank = texts.map((text) => text.trim() === "");
    return strictFirst(ratedCandidates(0, { mask, blank, entropies, future }))[0]?.token;
  },
  advice: (run) => [
    ...nothingLeft(run),
    ...(run.sampler === "float32"
      ? [
          {
            id: "same-policy",
            status: "note" as const,
            found:
              "what samples is what trains: the future of a token is worth the same under both, and appo ranks by entropy alone",
          },
        ]
      : []),
  ],
});

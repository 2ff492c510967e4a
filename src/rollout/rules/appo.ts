import type { Advice, RunFacts } from "../../../common/options/setting.js";
import { figure } from "../../../common/options/setting.js";
import { appoCandidates, inAppoOrder } from "../branch/family/appo.js";
import { choiceOf } from "../expand/choice.js";
import { afterTokens, futureValues } from "../expand/plan-chains.js";
import { defineRule } from "./definition.js";
import { short, signal, signalWords } from "./settings.js";

/** Whether the first trajectories leave anything of the budget. */
export const nothingLeft = ({ rule, n, initialRollouts: first }: RunFacts): Advice[] =>
  first < n
    ? []
    : [
        {
          id: "no-budget",
          status: "warning",
          found: `initial_rollouts is ${first} and n is ${n}: the whole budget is spent at the start and ${rule} leaves no trajectory`,
          fix: `actor_rollout_ref.rollout.initial_rollouts=${Math.max(1, Math.floor(n / 2))}`,
        },
      ];

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
  readsText: true,
  readsFuture: true,
  plan: (chain, settings, reading) =>
    chain.kind === "initial"
      ? {
          places: afterTokens(chain, settings.signal, reading, ({ own, ids, entropies, seen }) => {
            const future = futureValues(chain, settings, reading, seen?.logprobs);
            return appoCandidates(0, {
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
    const taken = inAppoOrder(all).slice(0, budget);
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
  spendsBudget: inAppoOrder,
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

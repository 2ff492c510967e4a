import { checkValue } from "../check.js";
import { rule } from "../rule.js";
import { right, wrong } from "../verdict.js";

/** What to do about a run that went wrong. */
export type Remedy = "lower the learning rate" | "harder questions" | "look at the answers";

/** What is to be chosen for each of some runs. */
export interface Remedies {
  a: Remedy;
  b: Remedy;
  c: Remedy;
}

/** Training. */
export const lesson09 = {
  "09 optimiser steps": rule<number>({
    hint: "how many mini-batches of 2 questions are there in 8?",
    check: (given) =>
      checkValue(given, 4, {
        because:
          "four mini-batches of 2 questions, 16 trajectories each. After the first, ratios are not 1 any more.",
        off: (x) => {
          if (x === 32) return "the mini-batch counts questions, not trajectories.";
          return x === 1 ? "that would be one mini-batch of all 8 questions." : undefined;
        },
      }),
  }),
  "09 clip fraction": rule<number>({
    hint: "how far has the policy moved when the only step is computed?",
    check: (given) =>
      checkValue(given, 0, {
        because:
          "nothing has moved yet, every ratio is 1. PPO's clipping only acts from the second step on.",
        off: (x) =>
          x === 1 ? "that is each token's ratio, not the share that is clipped." : undefined,
      }),
  }),
  "09 remedies": rule<Remedies>({
    hint: "a has nothing to learn; b has found something you did not mean; c moves too fast.",
    check: ({ a, b, c }) => {
      if (a !== "harder questions")
        return wrong(
          "in a every trajectory is right already: no group has a difference to learn from.",
        );
      if (b !== "look at the answers")
        return wrong(
          "in b the score goes up and the truth goes down: read what is being rewarded.",
        );
      return c === "lower the learning rate"
        ? right("and in b you would have found a hole in the reward, as in lesson 04.")
        : wrong("in c most tokens leave the bounds within a step: the steps are too large.");
    },
  }),
};

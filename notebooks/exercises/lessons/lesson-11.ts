import { agree, checkValue } from "../check.js";
import { rule } from "../rule.js";
import { right, wrong } from "../verdict.js";

/** Two ways to take a mean. */
export interface Means {
  token: number;
  answer: number;
}

/** Two REINFORCE++. */
export interface Returns {
  older: number;
  fixed: number;
}

/** Disagreements. */
export const lesson11 = {
  "11 silent": rule<number[]>({
    hint: "three of the four change a number; one makes a whole mechanism do nothing.",
    check: (given) => {
      const chosen = [...new Set(given)];
      if (chosen.length === 1 && chosen[0] === 9)
        return right(
          "the switch is on, the entropies are missing, and nothing says so. The others are choices of scale or mean.",
        );
      return chosen.includes(9)
        ? wrong("9 is one; the others change how much, not whether.")
        : wrong("those change how much, not whether: look for the mechanism that never acts.");
    },
  }),
  "11 direction": rule<number>({
    hint: "in aepo-code the score, here the draw itself, must be at least p.",
    check: (given) =>
      checkValue(given, 0.1, {
        because: "the draw must be at least 0.9. There the name says the opposite of what it does.",
        off: (x) =>
          x === 0.9
            ? "that is ARPO's reading; in AEPO's code p is a bar, not a chance."
            : undefined,
      }),
  }),
  "11 means": rule<Means>({
    hint: "token mean: all losses over all tokens. Per answer: each answer's mean first.",
    check: ({ token, answer }) => {
      if (agree(token, 0.5) && agree(answer, 0.1)) return wrong("you have swapped them.");
      if (!agree(token, 0.1)) return wrong("token mean: the losses add up to 1, over 10 tokens.");
      return agree(answer, 0.5)
        ? right("with a token mean long answers dominate; per answer each counts the same.")
        : wrong("per answer: the means are 0 and 1, and their mean is asked.");
    },
  }),
  "11 forgotten": rule<Returns>({
    hint: "walk back from the end; the older code multiplies by the mask at every token it passes.",
    check: ({ older, fixed }) => {
      if (agree(older, 1) && agree(fixed, 0)) return wrong("you have swapped them.");
      if (!agree(fixed, 1)) return wrong("fixed: masked tokens are passed over, and 1 arrives.");
      return agree(older, 0)
        ? right("at the tool's answer the mask is 0, and nothing gets past it.")
        : wrong("older: what does multiplying by a mask of 0 leave of the reward?");
    },
  }),
};

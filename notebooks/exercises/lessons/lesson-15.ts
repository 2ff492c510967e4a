import { checkFunction, checkValue } from "../check.js";
import { rule } from "../rule.js";
import { right, wrong } from "../verdict.js";

/** What a measured concentration allows to say. */
export type ConcentrationClaim =
  "uncertain tokens do not gather at calls" | "they gather at calls" | "nothing";

const never = Infinity;

/** Does entropy peak at tool calls? */
export const lesson15 = {
  "15 rise": rule<(entropies: number[], after: number[], k: number) => number>({
    hint: "two means: over the tokens with after[t] < k, and over all others; the first less the second.",
    check: (given) =>
      checkFunction(
        given,
        [
          [[[1, 1, 3, 1], [never, never, 0, 1], 1], 2],
          [[[1, 1, 3, 1], [never, never, 0, 1], 2], 1],
          [[[2, 0, 0, 4, 1], [never, 0, 1, 2, 3], 2], -7 / 3],
        ],
        {
          because: "with a small window it fell, with a larger one it can rise.",
          off: ([entropies, after, k], found) => {
            const mean = (x: number[]) => x.reduce((sum, v) => sum + v, 0) / x.length;
            const near = mean(entropies.filter((_, t) => after[t]! < k));
            if (Math.abs(found - (near - mean(entropies))) < 1e-9)
              return "The rest is the tokens outside the window, not all tokens.";
            const wide = entropies.filter((_, t) => after[t]! <= k);
            const outside = entropies.filter((_, t) => after[t]! > k);
            return Math.abs(found - (mean(wide) - mean(outside))) < 1e-9
              ? "A distance of k is outside: the first k tokens have 0 to k - 1."
              : undefined;
          },
        },
      ),
  }),
  "15 concentration": rule<number>({
    hint: "the share of the uncertain tokens that stand at calls, over the share of all tokens that do.",
    check: (given) =>
      checkValue(given, 3, {
        because: "60% of the uncertain ones stand there, and 20% of all.",
        off: (x) => {
          if (Math.abs(x - 0.6) < 1e-6)
            return "that is how many of the uncertain ones; compare it.";
          return Math.abs(x - 0.15) < 1e-6
            ? "that is how many of those at calls are uncertain; it is asked the other way round."
            : undefined;
        },
      }),
  }),
  "15 claim": rule<ConcentrationClaim>({
    hint: "which values of C were possible at all?",
    check: (given) => {
      if (given === "nothing")
        return right(
          "where 98% of all tokens stand at a call, C cannot be above 1/0.98. The window is too wide for the text.",
        );
      return given === "they gather at calls"
        ? wrong("the interval holds 1; and could C have been anything else?")
        : wrong("a test must be able to fail: what is the greatest C there can be here?");
    },
  }),
};

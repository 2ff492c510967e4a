import { ask, agree, checkFunction } from "../check.js";
import { rule } from "../rule.js";
import { right, wrong } from "../verdict.js";

const mean = (x: readonly number[]) => x.reduce((a, b) => a + b, 0) / x.length;
const deviation = (x: readonly number[]) =>
  Math.sqrt(x.reduce((a, v) => a + (v - mean(x)) ** 2, 0) / (x.length - 1));
const half = (x: readonly number[]) => (4.303 * deviation(x)) / Math.sqrt(3);

/** How to spend twelve runs. */
export type Plan =
  | "6 seeds each"
  | "1 seed each with 6 learning rates"
  | "3 seeds each, then 3 more for the better one";

/** What two ways of comparing show. */
export interface Shows {
  paired: boolean;
  unpaired: boolean;
}

/** Comparing. */
export const lesson10 = {
  "10 interval": rule<(threeScores: number[]) => number>({
    hint: "the deviation has n - 1 = 2 below the line; then 4.303 times it, over the root of 3.",
    check: (given) => {
      const cases = [
        [0.5, 0.6, 0.7],
        [0.2, 0.2, 0.8],
        [1, 1, 1],
      ];
      // With n below the line everything is too small by the root of 2/3.
      const byN = cases.every((x) => agree(ask(given, x), half(x) * Math.sqrt(2 / 3), 1e-3));
      const plain = cases.every((x) => agree(ask(given, x), half(x) * Math.sqrt(3), 1e-3));
      return checkFunction(
        given,
        cases.map((x) => [[x], half(x)] as const),
        {
          tolerance: 1e-3,
          because: "scores of 0.5, 0.6 and 0.7 only say that the mean is between 0.35 and 0.85.",
          off: () => {
            if (byN) return "Divide the sum of squares by n - 1, not n.";
            return plain ? "A mean is surer than one score: divide by the root of n." : undefined;
          },
        },
      );
    },
  }),
  "10 paired": rule<Shows>({
    hint: "the differences are 0.04, 0.03 and 0.05; your function from exercise 1 says how sure their mean is.",
    check: ({ paired, unpaired }) => {
      if (unpaired)
        return wrong("A alone is 0.6 ± 0.25: an interval that holds all of B's scores.");
      return paired
        ? right(
            "the differences are 0.04 ± 0.025, which does not reach 0. What makes a seed easy makes it easy for both, and cancels out.",
          )
        : wrong(
            "look at the differences B - A within each seed: 0.04, 0.03, 0.05. Their ± is 0.025.",
          );
    },
  }),
  "10 plan": rule<Plan>({
    hint: "which plan treats both alike, and says how sure it is?",
    check: (given) => {
      if (given === "6 seeds each")
        return right(
          "the same for both, decided before looking, and with Student's 2.6 instead of 4.3.",
        );
      return given === "1 seed each with 6 learning rates"
        ? wrong("the best of six learning rates with one seed is mostly the luckiest of six.")
        : wrong(
            "choosing the better one by luck and adding runs to it only is how luck gets published.",
          );
    },
  }),
};

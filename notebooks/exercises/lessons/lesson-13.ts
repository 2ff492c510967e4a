import { checkFunction, checkValue } from "../check.js";
import { rule } from "../rule.js";
import { right, wrong } from "../verdict.js";

/** What two models' figures allow to say. */
export type Claim = "better" | "too close";

/** A claim for each of two benchmarks. */
export interface Claims {
  aime: Claim;
  large: Claim;
}

/** Evaluation. */
export const lesson13 = {
  "13 pass at 2": rule<(n: number, c: number) => number>({
    hint: "the first is wrong with chance (n - c) / n; how likely is it then that the second is wrong too?",
    check: (given) =>
      checkFunction(
        given,
        [
          [[4, 0], 0],
          [[4, 1], 0.5],
          [[4, 2], 5 / 6],
          [[5, 4], 1],
          [[10, 3], 1 - (7 * 6) / 90],
        ],
        {
          because: "1 - (n-c)(n-c-1) / (n(n-1)), which is 1 - C(n-c, 2) / C(n, 2).",
          off: ([n, c], found) =>
            Math.abs(found - (1 - ((n - c) / n) ** 2)) < 1e-9
              ? "That puts the first answer back before the second is drawn."
              : undefined,
        },
      ),
  }),
  "13 f1": rule<number>({
    hint: "without the article three words are predicted; one of them is right, and one was wanted.",
    check: (given) =>
      checkValue(given, 0.5, {
        because:
          "a third of the words is right, all that was wanted is there: 2 · 1/3 · 1 / (4/3).",
        off: (x) => {
          if (Math.abs(x - 0.4) < 1e-6) return "the article counts as no word.";
          return Math.abs(x - 1 / 3) < 1e-3 ? "that is the first of the two shares." : undefined;
        },
      }),
  }),
  "13 claims": rule<Claims>({
    hint: "look at the table of intervals: how wide is it for 30 questions, how wide for 1,319?",
    check: ({ aime, large }) => {
      if (aime !== "too close")
        return wrong(
          "three questions more of 30: the intervals, 42 to 75 and 52 to 83, overlap by far.",
        );
      return large === "better"
        ? right("57 to 63 and 67 to 72 per cent: the intervals are far apart.")
        : wrong("with 1,319 questions the intervals are five points wide, and ten lie between.");
    },
  }),
};

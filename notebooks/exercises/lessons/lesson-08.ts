import { checkFunction, checkValue } from "../check.js";
import { rule } from "../rule.js";
import { right, wrong } from "../verdict.js";

/** Supervised fine-tuning. */
export const lesson08 = {
  "08 initial loss": rule<number>({
    hint: "each token has probability 1/1000; the loss is the mean of -ln p.",
    check: (given) =>
      checkValue(given, Math.log(1000), {
        tolerance: 0.005,
        because: "ln 1000 = 6.9: a first loss far from ln V means that something is wrong.",
        off: (x) => {
          if (x < 0) return "mind the sign: a loss of this kind is never negative.";
          return Math.abs(x - Math.log2(1000)) < 0.05
            ? "that is in bits; losses use the natural logarithm."
            : undefined;
        },
      }),
  }),
  "08 cross-entropy": rule<(p: number[], labels: number[]) => number>({
    hint: "add up -Math.log(p[i]) where labels[i] is not -100, and divide by how many those are.",
    check: (given) =>
      checkFunction(
        given,
        [
          [
            [
              [0.5, 0.5],
              [7, 8],
            ],
            Math.LN2,
          ],
          [
            [
              [0.1, 0.5, 0.25],
              [-100, 7, 8],
            ],
            1.5 * Math.LN2,
          ],
          [
            [
              [1, 0.9, 0.5, 0.1],
              [3, -100, 4, -100],
            ],
            0.5 * Math.LN2,
          ],
        ],
        {
          because: "only what the model is to write counts, in the sum and below the line.",
          off: ([p, labels], found, wanted) => {
            const all = p.length;
            const own = labels.filter((label) => label !== -100).length;
            if (Math.abs((found * all) / own - wanted) < 1e-6)
              return "Divide by the number of labels, not by the number of tokens.";
            return Math.abs(found + wanted) < 1e-6 ? "Mind the sign." : undefined;
          },
        },
      ),
  }),
  "08 results": rule<"to search less" | "to make up results" | "to think longer">({
    hint: "training makes more likely whatever carries a label.",
    check: (given) =>
      given === "to make up results"
        ? right(
            "it learns to write `<result>` blocks itself, and at rollout nothing stops it from believing them.",
          )
        : wrong("the loss makes labelled tokens more likely: ask which tokens those are now."),
  }),
};

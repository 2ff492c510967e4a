import { checkFunction, checkValue } from "../check.js";
import { rule } from "../rule.js";

/** Tokens, probability and entropy. */
export const lesson01 = {
  "01 uniform": rule<number>({
    hint: "put 1/8 for each of the eight into the formula; all eight terms are the same.",
    check: (given) =>
      checkValue(given, Math.log(8), {
        tolerance: 0.005,
        because: "eight times -(1/8) ln(1/8) is ln 8 = 2.079: e to the entropy is 8 again.",
        off: (x) => {
          if (Math.abs(x - 3) < 0.01)
            return "that is the entropy in bits (base 2); nats use the natural logarithm.";
          if (x < 0) return "entropy is never negative: mind the minus sign before the sum.";
          return Math.abs(x - Math.log(8) / 8) < 0.01
            ? "that is one of the eight terms."
            : undefined;
        },
      }),
  }),
  "01 entropy": rule<(p: number[]) => number>({
    hint: "sum p * Math.log(p) over the list, leave out where p is 0, and change the sign.",
    check: (given) =>
      checkFunction(
        given,
        [
          [[[1]], 0],
          [[[0.5, 0.5]], Math.LN2],
          [[[0.5, 0.25, 0.25]], 1.5 * Math.LN2],
          [[[1, 0]], 0],
        ],
        {
          because:
            "and a token that cannot come adds no surprise, because p ln p goes to 0 with p.",
          off: ([p], found) => {
            if (Number.isNaN(found)) return "0 times ln 0 is NaN: leave such tokens out.";
            return p.length > 1 && Math.abs(found - (p.length === 2 ? 1 : 1.5)) < 1e-6
              ? "That is in bits: use Math.log, not Math.log2."
              : undefined;
          },
        },
      ),
  }),
  "01 top-p": rule<(p: number[], P: number) => number>({
    hint: "sort a copy of p from large to small and count until the sum reaches P.",
    check: (given) =>
      checkFunction(
        given,
        [
          [[[0.5, 0.3, 0.2], 0.5], 1],
          [[[0.5, 0.3, 0.2], 0.6], 2],
          [[[0.1, 0.2, 0.7], 0.65], 1],
          [[[0.25, 0.25, 0.25, 0.25], 0.8], 4],
        ],
        {
          because: "and the surer the model, the fewer tokens survive.",
          off: ([p]) =>
            p[0]! < p[p.length - 1]! ? "The list need not be sorted: sort it first." : undefined,
        },
      ),
  }),
};

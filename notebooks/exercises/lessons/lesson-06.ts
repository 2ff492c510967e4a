import { agree, ask, checkFunction, checkValue } from "../check.js";
import { formatValue } from "../format-value.js";
import { rule } from "../rule.js";
import { right, wrong } from "../verdict.js";

const clip = (r: number) => Math.min(1.2, Math.max(0.8, r));
const single = (r: number, a: number) => Math.max(-a * r, -a * clip(r));
const dual = (r: number, a: number) => (a < 0 ? Math.min(-3 * a, single(r, a)) : single(r, a));

/** Ratios and advantages to try a loss on. */
const places = [0.5, 0.9, 1, 1.1, 1.5]
  .flatMap((ratio) => [1, -1, 2].map((advantage) => [ratio, advantage] as const))
  .concat([[4, -1]]);

/** One update. */
export const lesson06 = {
  "06 loss": rule<number>({
    hint: "the ratio is 0.3 / 0.2; the loss is the larger of -A r and -A clip(r).",
    check: (given) =>
      checkValue(given, -1.2, {
        because:
          "-1.5 and -1.2, and the worse of them counts: there is nothing to gain beyond 1.2.",
        off: (x) => {
          if (x === -1.5) return "that is without clipping.";
          return x > 0 ? "mind the sign: a positive advantage makes a negative loss." : undefined;
        },
      }),
  }),
  "06 token loss": rule<(ratio: number, advantage: number) => number>({
    hint: "Math.max of -advantage * ratio and -advantage * the ratio clipped to 0.8 … 1.2.",
    check: (given) => {
      const found = (r: number, a: number) => ask(given, r, a);
      const always = (like: (r: number, a: number) => number) =>
        places.every(([r, a]) => agree(found(r, a), like(r, a)));
      const off = always((r, a) => Math.min(-a * r, -a * clip(r)))
        ? " You took the better of the two: it is the worse, the larger loss."
        : always((r, a) => -a * clip(r))
          ? " Where moving back would help, clipping must not hide it: compare both candidates."
          : "";
      for (const [r, a] of places) {
        const given = found(r, a);
        if (agree(given, single(r, a)) || agree(given, dual(r, a))) continue;
        return wrong(
          `for ratio ${r} and advantage ${a} it gives ${formatValue(given)}, but should give ${formatValue(single(r, a))}.${off}`,
        );
      }
      return right(
        "a token that has moved too far in the wanted direction has no slope; one that moved the wrong way keeps it.",
      );
    },
  }),
  "06 norm": rule<(gradients: number[], most: number) => number>({
    hint: "the norm is the root of the summed squares; if it is above most, the factor is most / norm.",
    check: (given) =>
      checkFunction(
        given,
        [
          [[[3, 4], 1], 0.2],
          [[[0.3, 0.4], 1], 1],
          [[[3, -4], 2], 0.4],
        ],
        {
          // The library adds 1e-6 to the norm.
          tolerance: 1e-5,
          because: "the direction stays the same, only the length changes.",
          off: ([gradients, most], found) => {
            if (found > 1) return "Short gradients are left alone: the factor is never above 1.";
            const sum = gradients.reduce((a, b) => a + Math.abs(b), 0);
            return agree(found, most / sum) ? "Square, add up, take the root." : undefined;
          },
        },
      ),
  }),
};

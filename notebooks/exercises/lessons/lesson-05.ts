import { grpo } from "../../../src/learn/estimators/plain/grpo.js";
import { checkFunction, checkValue } from "../check.js";
import { rule } from "../rule.js";

function grpoOf(scores: number[]): number[] {
  const { advantages } = grpo({
    rewards: scores.map((score) => [score]),
    mask: scores.map(() => [1]),
    groups: scores.map(() => "q"),
  });
  return advantages.map(([first]) => first!);
}

/** Advantages. */
export const lesson05 = {
  "05 grpo": rule<(scores: number[]) => number[]>({
    hint: "mean first; then the root of the summed squares over n - 1; then (s - mean) / (deviation + 1e-6).",
    check: (given) =>
      checkFunction(
        given,
        [
          [1, 0, 0, 0],
          [1, 1, 1, 1],
          [1.1, 0.5, -1],
          [0, -1],
        ].map((scores) => [[scores], grpoOf(scores)] as const),
        {
          tolerance: 1e-5,
          because: "the better half is pushed up exactly as much as the worse half is pushed down.",
          off: ([scores], found) => {
            if (found.some(Number.isNaN)) return "Equal scores have no deviation: add 1e-6 to it.";
            const ratio = (found[0] ?? 0) / (grpoOf(scores)[0] ?? 1);
            return Math.abs(ratio - Math.sqrt(scores.length / (scores.length - 1))) < 1e-3
              ? "Divide the sum of squares by n - 1, not n."
              : undefined;
          },
        },
      ),
  }),
  "05 rloo": rule<number>({
    hint: "its own score, less the mean of the other two.",
    check: (given) =>
      checkValue(given, -1, {
        because: "the others have 1 on average, and it has 0.",
        off: (x) => {
          if (Math.abs(x + 2 / 3) < 0.01)
            return "that compares with the mean of all three; RLOO leaves the trajectory itself out.";
          return x === 1 ? "mind the sign: own score minus the others'." : undefined;
        },
      }),
  }),
  "05 returns": rule<(rewards: number[]) => number[]>({
    hint: "walk from the last token to the first and keep a running sum.",
    check: (given) =>
      checkFunction(
        given,
        [
          [[[0, 0, 1]], [1, 1, 1]],
          [[[1, 0, 0]], [1, 0, 0]],
          [[[0.5, -1, 2]], [1.5, 1, 2]],
        ],
        {
          because: "with one reward at the end, every token has the same return: the score.",
          off: ([rewards], found) =>
            found[0] === rewards[0] && rewards[0] !== 1
              ? "The sum runs from the token to the end, not from the start to the token."
              : undefined,
        },
      ),
  }),
  "05 hard": rule<number>({
    hint: "the mean of the trajectories that share it.",
    check: (given) =>
      checkValue(given, 0.5, {
        because: "both get 0.5, which adds up to the same 1 as 1.5 and -0.5 do.",
        off: (x) => (x === 1 ? "that is their sum; each gets the mean." : undefined),
      }),
  }),
};

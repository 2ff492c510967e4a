import type { BranchValues } from "../../../src/measure/branch-values/branch-values.js";
import type { PlaceRule } from "../../../src/measure/branch-values/place-rules.js";
import { agree, checkFunction } from "../check.js";
import { rule } from "../rule.js";
import { right, type Verdict, wrong } from "../verdict.js";

/** What forks from one token say: the variance of their outcomes, and tokens that each still draws. */
export interface ForkedPlace {
  variance: number;
  left: number;
}

/** A rule, and the measurement that judges it. */
export interface JudgedRule {
  rule: PlaceRule;
  values: BranchValues;
}

const sum = (x: readonly number[]) => x.reduce((total, v) => total + v, 0);
const share = (outcomes: readonly number[]) => sum(outcomes) / outcomes.length;
const varianceOf = (outcomes: number[]) => {
  const p = share(outcomes);
  return (p * (1 - p) * outcomes.length) / (outcomes.length - 1);
};
const worthOf = (places: ForkedPlace[]) =>
  sum(places.map(({ variance }) => variance)) / sum(places.map(({ left }) => left));

const two = (x: number | undefined) => (x === undefined ? "?" : x.toFixed(2));

/** Judges a rule by the variance that a branch at its places has for each token, against a random token. */
function judged({ rule, values }: JudgedRule): Verdict {
  const rules = { mine: rule, entropy: "entropy", window: "entropy-window" } as const;
  const [mine, entropy, window] = values.worth(rules, { per: "token", against: "uniform" });
  const score = `a branch by your rule is worth ${two(mine!.ratio)} times one at a random token [${two(mine!.ratioLow)}, ${two(mine!.ratioHigh)}], by \`entropy\` ${two(entropy!.ratio)}, by \`entropy-window\` ${two(window!.ratio)}.`;
  if (mine!.ratio === undefined) return wrong("your rule branches nowhere.");
  if (mine!.ratioLow! <= 1)
    return wrong(`${score} The interval must lie above 1. Where do forks differ, and cost little?`);
  if (mine!.ratio > Math.max(entropy!.ratio!, window!.ratio!))
    return right(
      `${score} The best of the three. A branch there draws ${mine!.tokensLeft!.toFixed(1)} tokens, and only these are compared: what must a policy learn that stands before them?`,
    );
  return right(`${score} Better than chance. Can you beat the other two?`);
}

/** A fork at every token. */
export const lesson17 = {
  "17 variance": rule<(outcomes: number[]) => number>({
    hint: "p(1 - p) is too small on average, because p was estimated from the same forks. By which factor?",
    check: (given) =>
      checkFunction(
        given,
        [
          [1, 0, 0, 0],
          [1, 1, 0, 0, 1, 0, 1, 0],
          [1, 1, 1],
          [0, 1],
        ].map((outcomes) => [[outcomes], varianceOf(outcomes)] as const),
        {
          because: "twice this is the chance that two forks end differently.",
          off: ([outcomes], found) => {
            const p = share(outcomes);
            if (agree(found, p * (1 - p))) return "Divide by n - 1 instead of n.";
            return agree(found, Math.sqrt(varianceOf(outcomes)))
              ? "That is its root, the deviation."
              : undefined;
          },
        },
      ),
  }),
  "17 worth": rule<(places: ForkedPlace[]) => number>({
    hint: "what do all branches together give, and what do all of them cost?",
    check: (given) =>
      checkFunction(
        given,
        [
          [{ variance: 0.2, left: 10 }],
          [
            { variance: 0.2, left: 40 },
            { variance: 0.2, left: 10 },
          ],
          [
            { variance: 0, left: 2 },
            { variance: 0.25, left: 50 },
            { variance: 0.1, left: 8 },
          ],
        ].map((places) => [[places], worthOf(places)] as const),
        {
          because: "a budget is spent on all places together, so costs are added before dividing.",
          off: ([places], found) =>
            agree(found, sum(places.map(({ variance, left }) => variance / left)) / places.length)
              ? "A mean of ratios counts a cheap branch as much as a dear one. Divide the sums."
              : undefined,
        },
      ),
  }),
  "17 rule": rule<JudgedRule>({
    hint: "a rule is a function of `{ texts, entropies, logprobs, blocks, calls, sinceResult, left, segment, segmentEntropies, group }`, as in the table above. Where is the model unsure and not much is left to write?",
    check: judged,
  }),
};

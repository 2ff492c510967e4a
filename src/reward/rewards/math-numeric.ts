import { grade } from "../answers/grade.js";
import { numericEquivalent } from "../answers/numeric-equivalence.js";
import type { Judged, Score } from "../score.js";
import { defineReward } from "./definition.js";

/** As `math`, but numbers and sets are compared by value: `1,000` is 1000, `0.50` is 1/2. */
export function mathNumeric(judged: Judged): Score {
  return grade(judged, numericEquivalent);
}

export const mathNumericReward = defineReward({
  name: "math-numeric",
  words: "as `math`, but numbers and sets are compared by value",
  reward: mathNumeric,
});

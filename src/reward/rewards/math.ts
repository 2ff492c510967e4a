import { checkArguments } from "../../../common/options/check-arguments.js";
import { grade } from "../answers/grade.js";
import { mathEquivalent } from "../answers/math-equivalence.js";
import type { Judged, Score } from "../score.js";
import { defineReward } from "./definition.js";

/**
 * 1 when the last boxed expression of the response is equivalent to the ground truth (to any of them,
 * if there are several), else 0.
 *
 * @param judged the trajectory to score
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { math } from "arpo-lab/learn";
 *
 * assert.equal(math({ response: "so \\boxed{x=1/2}", groundTruth: "\\frac12" }).score, 1);
 * ```
 */
export function math(judged: Judged): Score {
  checkArguments("reward", { judged }, { judged: { response: "text" } });
  return grade(judged, mathEquivalent);
}

export const mathReward = defineReward({
  name: "math",
  words: "the last boxed expression is equivalent to the ground truth",
  reward: math,
  dataSources: ["lighteval/MATH", "DigitalLearningGmbH/MATH-lighteval"],
});

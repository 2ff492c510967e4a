import { checkArguments } from "../../../common/options/check-arguments.js";
import { lastBoxed, unboxed } from "./extract-answer.js";
import { mathEquivalent } from "./math-equivalence.js";
import { numericEquivalent } from "./numeric-equivalence.js";
import { type Judged, type Score, truthsOf } from "../score.js";

function grade(judged: Judged, equivalent: (answer: string, truth: string) => boolean): Score {
  const wanted = truthsOf(judged);
  let answer: string;
  try {
    answer = unboxed(lastBoxed(judged.response));
  } catch (error) {
    return { score: 0, reason: error instanceof Error ? error.message : String(error) };
  }
  const right = wanted.some((truth) => equivalent(answer, truth));
  const reason = right
    ? `${answer} is equivalent to the ground truth`
    : `${answer} is not equivalent to ${wanted.join(" or ")}`;
  return { score: right ? 1 : 0, reason, answer };
}

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

/** As `math`, but numbers and sets are compared by value: `1,000` is 1000, `0.50` is 1/2. */
export function mathNumeric(judged: Judged): Score {
  return grade(judged, numericEquivalent);
}

/**
 * The reference's GSM8K reward: the number behind the last `####` of the response, without commas,
 * against the ground truth.
 *
 * @param judged the trajectory to score
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { gsm8k } from "arpo-lab/learn";
 *
 * assert.equal(gsm8k({ response: "so #### 1,200", groundTruth: "1200" }).score, 1);
 * ```
 */
export function gsm8k(judged: Judged): Score {
  checkArguments("reward", { judged }, { judged: { response: "text" } });
  const wanted = truthsOf(judged);
  const found = [...judged.response.matchAll(/#### (-?[0-9.,]+)/g)].pop()?.[1];
  if (found === undefined) return { score: 0, reason: "no number behind ####" };
  const answer = found.replaceAll(",", "").replaceAll("$", "");
  const right = wanted.some((truth) => answer === truth || mathEquivalent(answer, truth));
  return {
    score: right ? 1 : 0,
    reason: right ? "right number" : `wrong number: ${answer}`,
    answer,
  };
}

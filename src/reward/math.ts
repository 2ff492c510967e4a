import { lastBoxed, unboxed } from "./boxed.js";
import { mathEquivalent } from "./math-equivalence.js";
import type { Judged, Score } from "./score.js";

/**
 * 1 when the last boxed expression of the response is equivalent to the ground truth (to any of them,
 * if there are several), else 0.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { math } from "arpo-lab/reward";
 *
 * assert.equal(math({ response: "so \\boxed{x=1/2}", groundTruth: "\\frac12" }).score, 1);
 * ```
 */
export function math({ response, groundTruth }: Judged): Score {
  let answer: string;
  try {
    answer = unboxed(lastBoxed(response));
  } catch (error) {
    return { score: 0, reason: error instanceof Error ? error.message : String(error) };
  }
  const wanted = typeof groundTruth === "string" ? [groundTruth] : groundTruth;
  const right = wanted.some((truth) => mathEquivalent(answer, truth));
  const reason = right
    ? `${answer} is equivalent to the ground truth`
    : `${answer} is not equivalent to ${wanted.join(" or ")}`;
  return { score: right ? 1 : 0, reason, answer };
}

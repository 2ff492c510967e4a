import { mathEquivalent } from "./math-equivalence.js";
import type { Judged, Score } from "./score.js";

/**
 * The reference's GSM8K reward: the number behind the last `####` of the response, without commas,
 * against the ground truth.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { gsm8k } from "arpo-lab/reward";
 *
 * assert.equal(gsm8k({ response: "so #### 1,200", groundTruth: "1200" }).score, 1);
 * ```
 */
export function gsm8k({ response, groundTruth }: Judged): Score {
  const found = [...response.matchAll(/#### (-?[0-9.,]+)/g)].pop()?.[1];
  if (found === undefined) return { score: 0, reason: "no number behind ####" };
  const answer = found.replaceAll(",", "").replaceAll("$", "");
  const wanted = typeof groundTruth === "string" ? [groundTruth] : groundTruth;
  const right = wanted.some((truth) => answer === truth || mathEquivalent(answer, truth));
  return {
    score: right ? 1 : 0,
    reason: right ? "right number" : `wrong number: ${answer}`,
    answer,
  };
}

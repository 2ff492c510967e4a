import { checkArguments } from "../../../common/options/check-arguments.js";
import { mathEquivalent } from "../answers/math-equivalence.js";
import { type Judged, responseOf, type Score, truthsOf } from "../score.js";
import { defineReward } from "./definition.js";

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
  const found = [...responseOf(judged).matchAll(/#### (-?[0-9.,]+)/g)].pop()?.[1];
  if (found === undefined) return { score: 0, reason: "no number behind ####" };
  const answer = found.replaceAll(",", "").replaceAll("$", "");
  const right = wanted.some((truth) => answer === truth || mathEquivalent(answer, truth));
  return {
    score: right ? 1 : 0,
    reason: right ? "right number" : `wrong number: ${answer}`,
    answer,
  };
}

export const gsm8kReward = defineReward({
  name: "gsm8k",
  words: "the number behind the last `####` is the ground truth",
  reward: gsm8k,
  dataSources: ["openai/gsm8k"],
});

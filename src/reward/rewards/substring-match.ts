import { checkArguments } from "../../../common/options/check-arguments.js";
import { judgeBlock } from "../answers/answer-block.js";
import type { Judged, Score } from "../score.js";
import { defineReward } from "./definition.js";

/**
 * As `exactMatch`, but the ground truth need only occur in the answer.
 *
 * @param judged the trajectory to score
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { substringMatch } from "arpo-lab/learn";
 *
 * assert.equal(
 *   substringMatch({ response: "<answer>Paris, France</answer>", groundTruth: "Paris" }).score,
 *   1,
 * );
 * ```
 */
export function substringMatch(judged: Judged): Score {
  checkArguments("reward", { judged }, { judged: { response: "text" } });
  return judgeBlock(judged, (given, truth) => given.includes(truth), 1);
}

export const substringMatchReward = defineReward({
  name: "substring_match",
  words: "the last answer block holds the ground truth",
  reward: substringMatch,
});

import { checkArguments } from "../../../common/options/check-arguments.js";
import { judgeBlock } from "../answers/answer-block.js";
import type { Judged, Score } from "../score.js";
import { defineReward } from "./definition.js";

/**
 * Search-R1's exact match on the last answer block, after `normalizeAnswer`.
 *
 * @param judged the trajectory to score
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { exactMatch } from "arpo-lab/learn";
 *
 * assert.equal(exactMatch({ response: "<answer>The Paris</answer>", groundTruth: "paris" }).score, 1);
 * ```
 */
export function exactMatch(judged: Judged): Score {
  checkArguments("reward", { judged }, { judged: { response: "text" } });
  return judgeBlock(judged, (given, truth) => given === truth, 0.25);
}

export const exactMatchReward = defineReward({
  name: "exact_match",
  words: "the last answer block is the ground truth, after Search-R1's normalisation",
  reward: exactMatch,
  dataSources: ["searchR1_*"],
});

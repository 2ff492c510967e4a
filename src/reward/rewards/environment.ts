import { checkArguments } from "../../../common/options/check-arguments.js";
import type { JudgedTrajectory } from "../judged-trajectory.js";
import type { Score } from "../score.js";
import { defineReward } from "./definition.js";

/**
 * The environment's own reward: what it said when the trajectory had ended or, where it says nothing at the
 * end, the sum of what the calls earned. A trajectory whose environment could not go on gets 0, and the reason.
 *
 * @param judged the trajectory to score
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { environmentReward, judgedTrajectory } from "arpo-lab/learn";
 *
 * const call = { tag: "go", input: "north", text: "You are out.", ok: true, reward: 0.25 };
 * const trajectory = judgedTrajectory({ response: "", toolCalls: [call, call], outcome: { reason: "" } });
 * assert.equal(environmentReward(trajectory).score, 0.5);
 * assert.equal(environmentReward({ ...trajectory, outcome: { score: 1, reason: "out" } }).score, 1);
 * ```
 */
export function environmentReward(judged: JudgedTrajectory): Score {
  checkArguments(
    "use the environment's reward",
    { judged },
    { judged: { outcome: "object", toolCalls: "list" } },
  );
  const { outcome, toolCalls } = judged;
  const earned = toolCalls.flatMap(({ reward }) => (reward === undefined ? [] : [reward]));
  const calls = earned.reduce((sum, reward) => sum + reward, 0);
  const parts: Record<string, number> = earned.length > 0 ? { calls } : {};
  const { score, reason, failure, parts: own } = outcome!;
  if (failure !== undefined) return { score: 0, reason: `${reason}: ${failure}`, parts };
  if (score !== undefined) return { score, reason, parts: { ...parts, ...own } };
  if (earned.length > 0) {
    return { score: calls, reason: `what ${earned.length} calls earned`, parts };
  }
  return { score: 0, reason: "no call earned anything", parts };
}

export const environmentsOwn = defineReward({
  name: "environment",
  words: "what the environment says at the end, or the sum of what calls earned",
  reward: environmentReward,
});

import { checkArguments } from "../arguments/check-arguments.js";
import type { JudgedTrajectory } from "./judged-trajectory.js";
import {
  asScore,
  type GroupReward,
  groupReward,
  groupScores,
  isGroupReward,
  type Reward,
  type RewardContext,
  type RewardFunction,
} from "./reward-function.js";
import type { Score } from "./score.js";

/** A part of a rubric; weight 0 makes it a metric that is logged and does not count. */
export interface RubricPart<R extends Reward = Reward> {
  name: string;
  weight: number;
  reward: R;
}

/** One score from those of the parts. */
function total(parts: readonly RubricPart[], found: readonly Score[]): Score {
  const out = { score: 0, reason: "", parts: {} as Record<string, number> } as Score & {
    parts: Record<string, number>;
  };
  const reasons: string[] = [];
  parts.forEach(({ name, weight }, i) => {
    const part = found[i]!;
    // A part that counts must not turn the whole into NaN unnoticed; a metric may be anything.
    if (weight !== 0) out.score += weight * part.score;
    out.parts[name] = part.score;
    for (const [key, value] of Object.entries(part.parts ?? {})) {
      out.parts[`${name}/${key}`] = value;
    }
    if (part.answer !== undefined) out.answer ??= part.answer;
    if (part.reason) reasons.push(`${name}: ${part.reason}`);
  });
  return { ...out, reason: reasons.join("; ") };
}

/**
 * A reward that is a weighted sum of others; every part is logged under its name. With a part that
 * judges whole groups, so does the rubric.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { deepResearch, judgedTrajectory, rubric } from "arpo-lab/learn";
 *
 * const reward = rubric([
 *   { name: "answer", weight: 1, reward: deepResearch },
 *   { name: "calls", weight: -0.01, reward: (t) => t.toolCalls.length },
 *   { name: "length", weight: 0, reward: (t) => t.length },
 * ]);
 * const response = "<think>t</think><answer>\\boxed{2}</answer>";
 * const judged = judgedTrajectory({ response, groundTruth: "2", length: 9 });
 * const { score, parts } = await reward(judged);
 * assert.equal(score, 1);
 * assert.equal(parts?.length, 9);
 * ```
 */
export function rubric(
  parts: readonly RubricPart<RewardFunction>[],
): (judged: JudgedTrajectory, context?: RewardContext) => Promise<Score>;
export function rubric(parts: readonly RubricPart[]): GroupReward;
export function rubric(
  parts: readonly RubricPart[],
): GroupReward | ((judged: JudgedTrajectory, context?: RewardContext) => Promise<Score>) {
  checkArguments("make a rubric", { parts }, { parts: "list" });
  const repeated = parts.find(({ name }, i) => parts.findIndex((p) => p.name === name) !== i);
  if (parts.length === 0 || repeated) {
    throw new RangeError(
      `Cannot make a rubric: there must be parts with names of their own, got ${repeated ? `${repeated.name} twice` : "none"}`,
    );
  }
  if (parts.some(({ reward }) => isGroupReward(reward))) {
    return groupReward(async (judged, context) => {
      const found: Score[][] = [];
      for (const { reward } of parts) found.push(await groupScores(reward, judged, context));
      return judged.map((_, row) =>
        total(
          parts,
          found.map((scores) => scores[row]!),
        ),
      );
    });
  }
  const single = parts as readonly RubricPart<RewardFunction>[];
  return async (judged, context = { signal: new AbortController().signal }) => {
    const found: Score[] = [];
    for (const { reward } of single) found.push(asScore(await reward(judged, context)));
    return total(parts, found);
  };
}

import type { Judged, Score } from "./score.js";

/** A tool call as a reward sees it. */
export interface JudgedCall {
  tag: string;
  input: string;
  text: string;
  /** The tool did its work; a failure is the infrastructure's, not the model's. */
  ok: boolean;
}

/** A whole trajectory to judge. */
export interface JudgedTrajectory extends Judged {
  toolCalls: readonly JudgedCall[];
  /** Tokens of the response. */
  length: number;
}

/** Judges a trajectory: a number, or a number with its reason. */
export type RewardFunction = (judged: JudgedTrajectory) => number | Score | Promise<number | Score>;

/** A part of a rubric; weight 0 makes it a metric that is logged and does not count. */
export interface RubricPart {
  name: string;
  weight: number;
  reward: RewardFunction;
}

/** A bare number becomes a score without a reason. */
export function asScore(value: number | Score): Score {
  return typeof value === "number" ? { score: value, reason: "" } : value;
}

/**
 * A reward that is a weighted sum of others; every part is logged under its name.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { deepResearch, rubric } from "arpo-lab/reward";
 *
 * const reward = rubric([
 *   { name: "answer", weight: 1, reward: deepResearch },
 *   { name: "calls", weight: -0.01, reward: (t) => t.toolCalls.length },
 *   { name: "length", weight: 0, reward: (t) => t.length },
 * ]);
 * const response = "<think>t</think><answer>\\boxed{2}</answer>";
 * const judged = { response, groundTruth: "2", toolCalls: [], length: 9 };
 * const { score, parts } = await reward(judged);
 * assert.equal(score, 1);
 * assert.equal(parts?.length, 9);
 * ```
 */
export function rubric(parts: readonly RubricPart[]): (judged: JudgedTrajectory) => Promise<Score> {
  const repeated = parts.find(({ name }, i) => parts.findIndex((p) => p.name === name) !== i);
  if (parts.length === 0 || repeated) {
    throw new RangeError(
      `Cannot make a rubric: there must be parts with names of their own, got ${repeated ? `${repeated.name} twice` : "none"}`,
    );
  }
  return async (judged) => {
    const out: Score = { score: 0, reason: "", parts: {} };
    const reasons: string[] = [];
    for (const { name, weight, reward } of parts) {
      const part = asScore(await reward(judged));
      // A part that counts must not turn the whole into NaN unnoticed; a metric may be anything.
      if (weight !== 0) out.score += weight * part.score;
      out.parts![name] = part.score;
      for (const [key, value] of Object.entries(part.parts ?? {})) {
        out.parts![`${name}/${key}`] = value;
      }
      if (part.answer !== undefined) out.answer ??= part.answer;
      if (part.reason) reasons.push(`${name}: ${part.reason}`);
    }
    return { ...out, reason: reasons.join("; ") };
  };
}

/**
 * Chooses the reward by the task's data source; a name may end in `*`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { byDataSource, deepResearch, math } from "arpo-lab/reward";
 *
 * const reward = byDataSource({ "DR_*": deepResearch, math500: math });
 * const judged = { response: "\\boxed{1}", groundTruth: "1", toolCalls: [], length: 3 };
 * assert.equal((await reward({ ...judged, dataSource: "math500" })).score, 1);
 * await assert.rejects(reward({ ...judged, dataSource: "other" }), /DR_\*, math500, got other/);
 * ```
 */
export function byDataSource(
  rewards: Readonly<Record<string, RewardFunction>>,
  otherwise?: RewardFunction,
): (judged: JudgedTrajectory) => Promise<Score> {
  const stars = Object.keys(rewards).filter((name) => name.endsWith("*"));
  return async (judged) => {
    const source = judged.dataSource ?? "";
    const star = stars.find((name) => source.startsWith(name.slice(0, -1)));
    const reward = rewards[source] ?? (star ? rewards[star] : otherwise);
    if (!reward) {
      throw new RangeError(
        `Cannot reward: the data source must be one of ${Object.keys(rewards).join(", ")}, got ${source || "none"}`,
      );
    }
    return asScore(await reward(judged));
  };
}

import type { JudgedTrajectory } from "./judged-trajectory.js";
import type { Score } from "./score.js";

/** What a reward may heed besides what it judges. */
export interface RewardContext {
  /** Aborted where the score is no longer wanted: scoring was stopped, failed, or took too long. */
  signal: AbortSignal;
}

/** Judges a trajectory: a number, or a number with its reason. */
export type RewardFunction = (
  judged: JudgedTrajectory,
  context: RewardContext,
) => number | Score | Promise<number | Score>;

/** Scores of some trajectories, one for each, in their order. */
type GroupScores = readonly (number | Score)[];

/** Judges all trajectories of one prompt together: made by `groupReward`. */
export interface GroupReward {
  readonly over: "group";
  /**
   * @param judged all trajectories of one prompt
   * @param context the signal that ends scoring
   */
  judge(
    judged: readonly JudgedTrajectory[],
    context: RewardContext,
  ): GroupScores | Promise<GroupScores>;
}

/** Whatever can score: a reward for one trajectory, or for all of a prompt. */
export type Reward = RewardFunction | GroupReward;

/**
 * A reward that sees all trajectories of a prompt at once: for ranking them, for what only a comparison tells,
 * for one request instead of many. It gives one score for each, in their order.
 *
 * @param judge returns a score for each trajectory of a prompt
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { groupReward, score } from "arpo-lab/learn";
 * import { rollout } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 *
 * // The shortest of a prompt's answers.
 * const shortest = groupReward((trajectories) => {
 *   const least = Math.min(...trajectories.map(({ length }) => length));
 *   return trajectories.map(({ length }) => Number(length === least));
 * });
 * const tree = await rollout(randomTextPolicy(), { prompt: "6*7?" }, { n: 4, seed: 1 });
 * const { trajectories } = await score(tree, shortest);
 * assert.ok(trajectories.some(({ score }) => score.score === 1));
 * ```
 */
export function groupReward(judge: GroupReward["judge"]): GroupReward {
  if (typeof judge !== "function") {
    throw new TypeError(`Cannot make a group reward: it must be a function, got ${typeof judge}`);
  }
  return { over: "group", judge };
}

/** Whether a reward judges all trajectories of a prompt together. */
export function isGroupReward(reward: unknown): reward is GroupReward {
  const { over, judge } = (reward ?? {}) as Partial<GroupReward>;
  return over === "group" && typeof judge === "function";
}

const shown = (value: unknown) => {
  if (value === null || value === undefined || typeof value === "boolean") return String(value);
  return typeof value === "object"
    ? (JSON.stringify(value)?.slice(0, 80) ?? "an object")
    : typeof value;
};

/** A bare number becomes a score without a reason; what is no score is refused. */
export function asScore(value: number | Score): Score {
  if (typeof value === "number") return { score: value, reason: "" };
  if (typeof value !== "object" || value === null || typeof value.score !== "number") {
    throw new TypeError(
      `the reward must give a number, or { score, reason } with a number, got ${shown(value)}`,
    );
  }
  return typeof value.reason === "string" ? value : { ...value, reason: "" };
}

/** The scores of a whole group, whichever kind of reward it is. */
export async function groupScores(
  reward: Reward,
  judged: readonly JudgedTrajectory[],
  context: RewardContext,
): Promise<Score[]> {
  if (!isGroupReward(reward)) {
    const scores: Score[] = [];
    for (const one of judged) scores.push(asScore(await reward(one, context)));
    return scores;
  }
  const values = await reward.judge(judged, context);
  if (!Array.isArray(values) || values.length !== judged.length) {
    throw new RangeError(
      `the reward of a group must give a score for each of its ${judged.length} trajectories, got ${Array.isArray(values) ? values.length : shown(values)}`,
    );
  }
  return (values as GroupScores).map(asScore);
}

/**
 * A reward that reads the whole transcript as the reference does, whoever wrote it: an answer in a tool's result
 * counts as the model's. For comparisons with published figures.
 *
 * @param reward the reward to apply so
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { judgedTrajectory, math, reference } from "arpo-lab/learn";
 *
 * const response = "\\boxed{Rome}</search> <result>\n\\boxed{Paris}\n</result>";
 * const judged = judgedTrajectory({ response, groundTruth: "Paris" });
 * assert.equal(math(judged).score, 0);
 * assert.equal((await reference(math)(judged)).score, 1);
 * ```
 */
export function reference(
  reward: RewardFunction,
): (judged: JudgedTrajectory, context?: RewardContext) => Promise<Score> {
  if (typeof reward !== "function") {
    throw new TypeError(
      `Cannot reward as the reference does: the reward must be a function, got ${typeof reward}`,
    );
  }
  return async (judged, context = { signal: new AbortController().signal }) => {
    const response = judged.transcript ?? judged.response;
    return asScore(await reward({ ...judged, response, asReference: true }, context));
  };
}

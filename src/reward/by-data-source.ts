import { checkArguments } from "../../common/options/check-arguments.js";
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

/** The name among some that a data source has, or that ends in `*` and begins it. */
export function nameOf(names: readonly string[], source: string): string | undefined {
  if (names.includes(source)) return source;
  return names.find((name) => name.endsWith("*") && source.startsWith(name.slice(0, -1)));
}

/**
 * Chooses the reward by the task's data source; a name may end in `*`. With a reward that judges whole
 * groups among them, so does the choice.
 *
 * @param rewards the reward of each data source
 * @param otherwise the reward of all other data sources
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { byDataSource, deepResearch, judgedTrajectory, math } from "arpo-lab/learn";
 *
 * const reward = byDataSource({ "DR_*": deepResearch, math500: math });
 * const judged = judgedTrajectory({ response: "\\boxed{1}", groundTruth: "1" });
 * assert.equal((await reward({ ...judged, dataSource: "math500" })).score, 1);
 * await assert.rejects(reward({ ...judged, dataSource: "other" }), /DR_\*, math500, got other/);
 * ```
 */
export function byDataSource(
  rewards: Readonly<Record<string, RewardFunction>>,
  otherwise?: RewardFunction,
): (judged: JudgedTrajectory, context?: RewardContext) => Promise<Score>;
/**
 * @param rewards the reward of each data source
 * @param otherwise the reward of all other data sources
 */
export function byDataSource(
  rewards: Readonly<Record<string, Reward>>,
  otherwise?: Reward,
): GroupReward;
export function byDataSource(
  rewards: Readonly<Record<string, Reward>>,
  otherwise?: Reward,
): GroupReward | ((judged: JudgedTrajectory, context?: RewardContext) => Promise<Score>) {
  checkArguments("reward by data source", { rewards }, { rewards: "object" });
  const names = Object.keys(rewards);
  const choose = (source = ""): Reward => {
    const name = nameOf(names, source);
    const reward = name === undefined ? otherwise : rewards[name];
    if (reward) return reward;
    throw new RangeError(
      `Cannot reward: the data source must be one of ${names.join(", ")}, got ${source || "none"}`,
    );
  };
  if ([...Object.values(rewards), ...(otherwise ? [otherwise] : [])].some(isGroupReward)) {
    // Trajectories of a group are of one task, and so of one source.
    return groupReward((judged, context) =>
      groupScores(choose(judged[0]?.dataSource), judged, context),
    );
  }
  return async (judged, context = { signal: new AbortController().signal }) =>
    asScore(await (choose(judged.dataSource) as RewardFunction)(judged, context));
}

import type { Task } from "../data/task.js";
import type { RolloutTask } from "../rollout/task.js";
import type { RolloutTree } from "../rollout/rollout-tree.js";
import { deepResearch } from "./deep-research.js";
import { type RewardFunction, asScore } from "./reward-function.js";
import { Scored, type ScoredTrajectory } from "./scored.js";

/** What scoring needs of a task; the rest is passed on to the reward. */
type ScorableTask = RolloutTask &
  Partial<Pick<Task, "id" | "groundTruth" | "dataSource" | "extra">>;

/**
 * Scores every trajectory of one tree or of many. The reward sees the response without its prompt.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { score } from "arpo-lab/reward";
 * import { rollout } from "arpo-lab/rollout";
 * import { ScriptedPolicy } from "arpo-lab/rollout/testing";
 *
 * const text = "<think>easy</think><answer>\\boxed{4}</answer>\u0001";
 * const tree = await rollout(new ScriptedPolicy(() => ({ text })), {
 *   prompt: "2+2?",
 *   groundTruth: "4",
 * });
 * assert.equal((await score(tree)).mean, 1);
 * ```
 */
export async function score(
  trees: RolloutTree<ScorableTask> | readonly RolloutTree<ScorableTask>[],
  reward: RewardFunction = deepResearch,
): Promise<Scored> {
  const list = Array.isArray(trees)
    ? (trees as readonly RolloutTree<ScorableTask>[])
    : [trees as RolloutTree<ScorableTask>];
  const rows: ScoredTrajectory[] = [];
  for (const tree of list) {
    const { task } = tree;
    const group = task.id ?? String(tree.index);
    if (task.groundTruth === undefined) {
      throw new TypeError(`Cannot score task ${group}: it must have a groundTruth, got none`);
    }
    for (const trajectory of tree.trajectories) {
      let value: number | Awaited<ReturnType<RewardFunction>>;
      try {
        value = await reward({
          response: trajectory.text,
          groundTruth: task.groundTruth,
          ...(task.dataSource === undefined ? {} : { dataSource: task.dataSource }),
          ...(task.extra === undefined ? {} : { extra: task.extra }),
          toolCalls: trajectory.toolCalls,
          length: trajectory.tokens.length,
        });
      } catch (error) {
        throw new Error(
          `Cannot score task ${group}, row ${trajectory.row}: the reward threw ${error instanceof Error ? error.message : String(error)}`,
          { cause: error },
        );
      }
      const scored = asScore(value);
      if (!Number.isFinite(scored.score)) {
        throw new RangeError(
          `Cannot score task ${group}, row ${trajectory.row}: the reward must be a finite number, got ${scored.score}`,
        );
      }
      rows.push({ trajectory, group, score: scored });
    }
  }
  return new Scored(rows, list as readonly RolloutTree[]);
}

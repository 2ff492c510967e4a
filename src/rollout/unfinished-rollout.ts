import type { RolloutTree } from "./rollout-tree.js";
import type { RolloutTask } from "./task.js";

/**
 * A rollout of many tasks that failed when some trees were complete. They are kept: handed to the same
 * call as `finished`, only the others are grown.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout, UnfinishedRollout } from "arpo-lab/rollout";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 *
 * let broken = true;
 * const policy = new ScriptedPolicy(({ text }) => {
 *   if (broken && text.includes("b\n")) throw new Error("all endpoints are gone");
 *   return { text: "fine\u0001" };
 * });
 * const tasks = [{ prompt: "a" }, { prompt: "b" }];
 * const error: unknown = await rollout(policy, tasks, { promptsAtOnce: 1 }).catch((e: unknown) => e);
 * assert.ok(error instanceof UnfinishedRollout);
 * assert.equal(error.message, "all endpoints are gone; 1 of 2 trees is complete and kept in the error's trees");
 * broken = false;
 * const trees = await rollout(policy, tasks, { finished: error.trees });
 * assert.deepEqual(trees.map(({ index }) => index), [0, 1]);
 * ```
 */
export class UnfinishedRollout<T extends RolloutTask = RolloutTask> extends Error {
  override name = "UnfinishedRollout";
  /**
   * @param tasks how many tasks were asked for
   * @param cause the error that ended the rollout
   */
  constructor(
    /** The trees that are complete, each with the index of its task. */
    readonly trees: readonly RolloutTree<T>[],
    tasks: number,
    cause: unknown,
  ) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const are = trees.length === 1 ? "is" : "are";
    super(
      `${why}; ${trees.length} of ${tasks} trees ${are} complete and kept in the error's trees`,
      { cause },
    );
  }
}

import { checkArguments } from "../../../common/options/check-arguments.js";
import type { ModelPolicy } from "../../policy/policy-from-model.js";
import type { ScorableTask } from "../../reward/score-trees.js";
import type { Loop } from "./loop.js";
import type { LoopOptions } from "./record-loop.js";

/**
 * How agentic RL works, on one question of yours: where the policy hesitates, where it branches and why, what scores
 * make of it, and what training changes. Records a rollout, then trains and looks again: the same tokens scored after
 * every update, and fresh tries of the question with their interval. It trains the policy in place: give it one of its
 * own.
 *
 * @param path the file of a recording that `save` wrote; instead of it the policy and the task to record
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { theLoop } from "arpo-lab/view";
 *
 * // Usually: await theLoop(await Policy.load("data/models/tiny"), task, { tools, steps: 24 })
 * const loop = await theLoop("data/loop.json");
 * assert.match(loop.summary, /The right answer is \d+/);
 * ```
 */
export function theLoop(path: string): Promise<Loop>;
/**
 * @param policy the policy, which is trained
 * @param task the question with its right answer
 */
export function theLoop(
  policy: ModelPolicy,
  task: ScorableTask,
  options?: LoopOptions,
): Promise<Loop>;
export async function theLoop(
  policy: ModelPolicy | string,
  task?: ScorableTask,
  options: LoopOptions = {},
): Promise<Loop> {
  // What shows it and what trains is read when somebody asks for it.
  const { Loop, readLoop } = await import("./loop.js");
  if (typeof policy === "string") return new Loop(await readLoop(policy));
  checkArguments("record the loop", { policy, task }, { policy: "policy", task: "object" });
  const { recordLoop } = await import("./record-loop.js");
  return new Loop(await recordLoop(policy, task!, options));
}

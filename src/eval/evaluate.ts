import { checkArguments } from "../../common/options/check-arguments.js";
import type { Policy } from "../policy/policy.js";
import type { ScorableTask } from "../reward/score-trees.js";
import type { Evaluable, EvaluateOptions } from "./evaluate-benchmarks.js";
import {
  evaluateTasks,
  isTasks,
  type TaskEvaluation,
  type TaskEvaluationOptions,
} from "./evaluate-tasks.js";
import type { Evaluation } from "./report/evaluation.js";

/** How tasks and how benchmarks are evaluated; what a type says nothing of is a list of tasks. */
type EvaluationOf<Q> = (0 extends 1 & Q ? readonly ScorableTask[] : Q) extends
  Evaluable | readonly Evaluable[]
  ? { options: EvaluateOptions; result: Evaluation }
  : { options: TaskEvaluationOptions; result: TaskEvaluation };

/**
 * Evaluates a policy: on a list of tasks, each answered and scored, or on benchmarks by name, with the
 * published metrics, a judge and a report.
 *
 * @param policy the policy to evaluate
 * @param which a list of tasks; or one benchmark or several, by name or loaded
 * @param given options
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp, readdir } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { evaluate } from "arpo-lab/run";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 *
 * // Usually: await Policy.load("data/models/tiny"), and { tools: taskTools(world) }.
 * const policy = new ScriptedPolicy(() => ({ text: "<answer>\\boxed{Godor}</answer>" }));
 * const folder = await mkdtemp(join(tmpdir(), "arpo-"));
 * const evaluation = await evaluate(policy, "hotpotqa-lookalike", { samples: 2, folder });
 * assert.equal(evaluation.samples.length, 24);
 * assert.ok(evaluation.benchmarks[0].accuracy.value > 0);
 * assert.ok((await readdir(`${folder}/hotpotqa-lookalike`)).length === 6);
 * ```
 */
export async function evaluate<
  Q extends Evaluable | readonly Evaluable[] | readonly ScorableTask[],
>(
  policy: Policy,
  which: Q,
  given: EvaluationOf<Q>["options"] = {},
): Promise<EvaluationOf<Q>["result"]> {
  checkArguments("evaluate", { policy }, { policy: "policy" });
  if (Array.isArray(which) && which.length === 0) {
    throw new RangeError("Cannot evaluate: there must be a task or a benchmark, got an empty list");
  }
  if (isTasks(which)) return evaluateTasks(policy, which, given as TaskEvaluationOptions);
  if (Array.isArray((which as { train?: unknown } | undefined)?.train)) {
    throw new TypeError(
      "Cannot evaluate: tasks must be a list of tasks, got a set of tasks; choose its test or train",
    );
  }
  // What benchmarks need is read when one is asked for.
  const { evaluateBenchmarks } = await import("./evaluate-benchmarks.js");
  return evaluateBenchmarks(policy, which as Evaluable, given as EvaluateOptions);
}

import { withEnds } from "../text/interval-text.js";
import { checkArguments } from "../arguments/check-arguments.js";
import { checkOptions, integer, type OptionRules } from "../arguments/check-options.js";
import type { Policy } from "../policy/policy.js";
import type { Reward } from "../reward/reward-function.js";
import { type ScorableTask, score } from "../reward/score-trees.js";
import type { Scored } from "../reward/scored.js";
import { rolloutRules } from "../rollout/option-rules.js";
import type { AnswerOptions } from "../rollout/options.js";
import { rollout } from "../rollout/rollout.js";
import type { Trajectory } from "../rollout/tree/trajectory.js";
import { showAs, type Shown } from "../show/show-as.js";
import { type Interval, scoreInterval } from "./metrics/interval.js";

/** How a policy is evaluated on tasks. */
export interface TaskEvaluationOptions extends AnswerOptions {
  /** Answers per task. Default: 1. */
  samples?: number;
  /** Default: as `score`: ARPO's, which compares with `groundTruth`; in an environment its own. */
  reward?: Reward;
}

/** One answer to one task. */
interface TaskResult {
  task: ScorableTask;
  score: number;
  reason: string;
  response: string;
  trajectory: Trajectory;
}

/**
 * What a policy reached on a list of tasks: made by `evaluate`. Shows itself.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { evaluate } from "arpo-lab/run";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 *
 * const policy = new ScriptedPolicy(() => ({ text: "It is 7.\u0001" }));
 * const tasks = [{ prompt: "3+4?", groundTruth: "7" }, { prompt: "2+2?", groundTruth: "4" }];
 * const evaluation = await evaluate(policy, tasks, {
 *   reward: ({ response, groundTruth }) => Number(response.includes(String(groundTruth))),
 * });
 * assert.equal(evaluation.mean, 0.5);
 * assert.deepEqual(evaluation.results.map(({ score }) => score), [1, 0]);
 * assert.match(String(evaluation), /mean score 0\.50, 95% interval 0\.\d\d to 0\.\d\d/);
 * ```
 */
export class TaskEvaluation {
  /** Every answer, in the order of the tasks. */
  readonly results: readonly TaskResult[];
  /** The mean over tasks of their mean score. */
  readonly mean: number;
  /** The 95% interval of `mean`. */
  readonly interval: Interval;

  constructor(
    readonly policy: string,
    readonly scored: Scored,
  ) {
    checkArguments(
      "make an evaluation",
      { policy, scored },
      { policy: "text", scored: { rows: "list", trees: "list" } },
    );
    const { rows, trees } = scored;
    const tasks = trees.flatMap(({ task, trajectories }) => trajectories.map(() => task));
    this.results = rows.map(({ trajectory, score: found }, i) => ({
      task: tasks[i]!,
      score: found.score,
      reason: found.reason,
      response: trajectory.text,
      trajectory,
    }));
    let from = 0;
    const perTask = trees.map(({ trajectories: { length } }) => {
      const own = this.results.slice(from, (from += length));
      return own.reduce((sum, result) => sum + result.score, 0) / length;
    });
    this.interval = scoreInterval(perTask);
    this.mean = this.interval.value;
  }

  /** A line for a list of values. */
  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return { group: "Evaluations", text: this.#headline() };
  }

  /** The mean with its interval, then a line per answer. */
  toString(): string {
    return `${this.#headline()}\n${String(this.scored)}`;
  }

  [Symbol.for("Jupyter.display")](): Shown {
    return showAs("TaskEvaluation", this);
  }

  #headline(): string {
    const { trees } = this.scored;
    const { low, high } = this.interval;
    const said = withEnds(this.mean, low, high);
    const within = Number.isNaN(low)
      ? "no interval of one task"
      : `95% interval ${said.low} to ${said.high}`;
    return `${this.policy} on ${trees.length} ${trees.length === 1 ? "task" : "tasks"}: mean score ${said.value}, ${within}`;
  }
}

/** Whether these are tasks, not benchmarks. */
export const isTasks = (which: unknown): which is readonly ScorableTask[] =>
  Array.isArray(which) &&
  which.length > 0 &&
  which.every(
    (one: unknown) =>
      typeof one === "object" && one !== null && "prompt" in one && !("name" in one),
  );

const rules: OptionRules<TaskEvaluationOptions> = {
  tools: rolloutRules.tools,
  environment: rolloutRules.environment,
  sampling: rolloutRules.sampling,
  responseLength: rolloutRules.responseLength,
  callLimit: rolloutRules.callLimit,
  promptLimit: rolloutRules.promptLimit,
  seed: rolloutRules.seed,
  signal: rolloutRules.signal,
  samples: integer(1),
  reward: "reward?",
};

/** Answers tasks without branching, and scores the answers. */
export async function evaluateTasks(
  policy: Policy,
  tasks: readonly ScorableTask[],
  options: TaskEvaluationOptions,
): Promise<TaskEvaluation> {
  if (Object.hasOwn(Object(options) as object, "n")) {
    throw new TypeError(
      "Cannot evaluate: every option must be known, got n; did you mean samples?",
    );
  }
  checkOptions("evaluate", options, rules);
  const { samples = 1, reward, ...rest } = options;
  const { sampling = { temperature: samples === 1 ? 0 : 1 } } = options;
  const trees = await rollout(policy, tasks, {
    ...rest,
    sampling,
    n: samples,
    keepTop: false,
  });
  return new TaskEvaluation(policy.name, await score(trees, reward, { signal: rest.signal }));
}

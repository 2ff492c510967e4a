import { withEnds } from "../base/text/interval-text.js";
import { checkArguments } from "../../common/options/check-arguments.js";
import { checkOptions, integer, optionsFor, valuesOf } from "../../common/options/check-options.js";
import {
  completed,
  type Given,
  option,
  rulesOf,
  unset,
} from "../../common/options/option-table.js";
import type { Policy } from "../policy/policy.js";
import type { Reward } from "../reward/reward-function.js";
import { type ScorableTask, score } from "../reward/score-trees.js";
import type { Scored } from "../reward/scored.js";
import { type AnswerOptions, answerRules } from "../rollout/options.js";
import { rollout } from "../rollout/rollout.js";
import { Enough } from "../rollout/enough.js";
import type { RolloutTree } from "../rollout/rollout-tree.js";
import { UnfinishedRollout } from "../rollout/unfinished-rollout.js";
import { defined } from "../../common/options/defined.js";
import { findingsOfAnswers } from "../reward/findings/diagnose.js";
import { note } from "#platform/note";
import { printable } from "../base/text/printable.js";
import { ProgressLine } from "../base/show/progress-line.js";
import { logged, showAs, type Shown, watchAs } from "../base/show/show-as.js";
import type { Trajectory } from "../rollout/tree/trajectory.js";
import { type Interval, scoreInterval } from "./metrics/interval.js";

/** What an evaluation on tasks can be told besides how they are answered. */
const taskTable = {
  /** Answers per task. Default: 1. */
  samples: option(integer(1), 1),
  /** How answers are scored. Default: as `score`: ARPO's, which compares with `groundTruth`; in an environment its own. */
  reward: unset(valuesOf<Reward>("reward?")),
  /** Show how far it is while it goes on, where a notebook looks. Default: true. */
  live: option(valuesOf<boolean>("boolean?"), true),
};

/** How a policy is evaluated on tasks. */
export interface TaskEvaluationOptions extends AnswerOptions, Given<typeof taskTable> {}

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

  /**
   * @param policy the policy's name
   * @param scored the scored answers
   */
  constructor(
    readonly policy: string,
    readonly scored: Scored,
    /** How many tasks were answered when it was stopped, by the button on its page. */
    readonly stoppedAt?: { tasks: number; of: number },
  ) {
    checkArguments(
      "make an evaluation",
      { policy, scored },
      { policy: "text", scored: { trajectories: "list", trees: "list" } },
    );
    const { trajectories: rows, trees } = scored;
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

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return logged(this);
  }

  #headline(): string {
    const { trees } = this.scored;
    const { low, high } = this.interval;
    const said = withEnds(this.mean, low, high);
    const within = Number.isNaN(low)
      ? "no interval of one task"
      : `95% interval ${said.low} to ${said.high}`;
    const { stoppedAt: at } = this;
    const stopped = at ? `, stopped after ${at.tasks} of ${at.of} tasks` : "";
    return `${this.policy} on ${trees.length} ${trees.length === 1 ? "task" : "tasks"}: mean score ${said.value}, ${within}${stopped}`;
  }
}

/** Whether these are tasks, not benchmarks, which have a prompt too. A task may have fields of its own, as a name. */
export const isTasks = (which: unknown): which is readonly ScorableTask[] =>
  Array.isArray(which) &&
  which.length > 0 &&
  which.every(
    (one: unknown) =>
      typeof one === "object" &&
      one !== null &&
      "prompt" in one &&
      !("name" in one && "title" in one && "task" in one),
  );

const rules = { ...answerRules, ...rulesOf(taskTable) };

/** A Stop button was pressed before there was anything to tell. */
export const stoppedTooEarly = () =>
  new Enough("Cannot evaluate: an answer must be finished before it is stopped, got none");

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
  const { samples, reward, live } = completed(taskTable, options, {});
  const rest = optionsFor<AnswerOptions>(answerRules, options);
  const { sampling = { temperature: samples === 1 ? 0 : 1 } } = options;
  const enough = new AbortController();
  const stop = () => enough.abort(stoppedTooEarly());
  const shown = live ? watchAs("Work", { after: "the tasks it has answered", stop }) : undefined;
  const line = new ProgressLine();
  const of = tasks.length * samples;
  let done = 0;
  const tell = () => shown?.tell?.(line.count("answering", done, of), { share: done / of });
  try {
    tell();
    const trees = await rollout(policy, tasks, {
      ...rest,
      sampling,
      n: samples,
      keepTop: false,
      signal: AbortSignal.any([enough.signal, rest.signal].flatMap((one) => one ?? [])),
      onEvent: ({ type }) => {
        if (type !== "end") return;
        done++;
        tell();
      },
    }).catch((error: unknown) => {
      // Trees that are complete when the button is pressed are what there is.
      if (enough.signal.aborted && error instanceof UnfinishedRollout)
        return error.trees as RolloutTree<ScorableTask>[];
      throw error;
    });
    const { length } = trees;
    const stopped = length < tasks.length ? { tasks: length, of: tasks.length } : undefined;
    const scored = await score(trees, reward, defined({ signal: rest.signal }));
    if (rest.quiet !== true)
      for (const { message } of findingsOfAnswers(scored)) note(printable(`arpo-lab: ${message}`));
    return new TaskEvaluation(policy.name, scored, stopped);
  } finally {
    shown?.done();
  }
}

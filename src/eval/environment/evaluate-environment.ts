import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  integer,
  type OptionRules,
  rulesWithout,
  valuesOf,
} from "../../../common/options/check-options.js";
import {
  completed,
  type Given,
  option,
  rulesOf,
  unset,
} from "../../../common/options/option-table.js";
import type { Task } from "../../tasks/task.js";
import type { TaskSet } from "../../tasks/tasks/task-set.js";
import type { Policy } from "../../policy/policy.js";
import { score } from "../../reward/score-trees.js";
import { type AnswerOptions, answerRules } from "../../rollout/options.js";
import { rollout } from "../../rollout/rollout.js";
import { meanInterval, type Interval } from "../metrics/interval.js";

const environmentTable = {
  /** Trajectories per task. Default 1. */
  samples: option(integer(1), 1),
  /** Only the first tasks. Default: all. */
  tasks: unset(integer(0)),
  /** Called whenever a trajectory has ended. Default: none. */
  onTrajectory: unset(valuesOf<(done: number, total: number) => void>("function?")),
};

interface EnvironmentEvaluationOptions
  extends Omit<AnswerOptions, "environment" | "promptLimit">, Given<typeof environmentTable> {}

/** What a policy reached in an environment on held-out tasks. */
export interface EnvironmentEvaluation {
  environment: string;
  policy: string;
  tasks: number;
  samples: number;
  /** Mean score; its interval is known where every score is from 0 to 1. */
  mean: number;
  interval?: Interval;
  /** Mean score by what grades the tasks (`extra.size`, `extra.things`, …), where something does. */
  byGrade: Record<string, number>;
  /** Mean number of calls, and the share of trajectories that the environment ended. */
  calls: number;
  ended: number;
  rows: { task: string; score: number; reason: string; calls: number; end: string; text: string }[];
}

const rules: OptionRules<EnvironmentEvaluationOptions> = {
  ...rulesWithout(answerRules, "environment", "promptLimit"),
  ...rulesOf(environmentTable),
};

/** Acts in the environment of a set on its held-out tasks, without branching, and says what it was worth. */
export async function evaluateEnvironment(
  policy: Policy,
  set: Pick<TaskSet, "test" | "environment">,
  options: EnvironmentEvaluationOptions = {},
): Promise<EnvironmentEvaluation> {
  checkArguments(
    "evaluate in an environment",
    { policy, set },
    { policy: "policy", set: { test: "list", environment: "function" } },
  );
  checkOptions("evaluate in an environment", options, rules);
  const { samples } = completed(environmentTable, options, {});
  const { callLimit = 16, responseLength = 512, seed = 0, tools, signal } = options;
  const tasks = set.test.slice(0, options.tasks);
  if (tasks.length === 0) {
    throw new RangeError("Cannot evaluate in an environment: there must be a task, got none");
  }
  let done = 0;
  const trees = await rollout(policy, tasks, {
    ...{ n: samples, initialRollouts: samples, beamSize: 1, keepTop: false },
    ...{ environment: set.environment, callLimit, responseLength, seed },
    sampling: options.sampling ?? { temperature: 1 },
    tools,
    signal,
    onEvent: ({ type }) => {
      if (type === "end") options.onTrajectory?.(++done, tasks.length * samples);
    },
  });
  const { trajectories: scored, mean } = await score(trees);
  const rows = scored.map(({ trajectory, group, score: found }) => ({
    ...{ task: group, score: found.score, reason: found.reason },
    ...{ calls: trajectory.toolCalls.length, end: trajectory.end, text: trajectory.text },
  }));
  const share = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  const perTask = tasks.map((_, i) =>
    share(rows.slice(i * samples, (i + 1) * samples).map((row) => row.score)),
  );
  const bounded = perTask.every((value) => value >= 0 && value <= 1);
  const grades = new Map<string, number[]>();
  tasks.forEach((task, i) => {
    for (const grade of gradesOf(task)) {
      grades.set(grade, [...(grades.get(grade) ?? []), perTask[i]!]);
    }
  });
  return {
    environment: trees[0]!.environment!.name,
    policy: policy.name,
    ...{ tasks: tasks.length, samples, mean },
    ...(bounded ? { interval: meanInterval(perTask) } : {}),
    byGrade: Object.fromEntries(
      [...grades]
        .sort(([a], [b]) => a.localeCompare(b))
        .map(([name, values]) => [name, share(values)]),
    ),
    calls: share(rows.map((row) => row.calls)),
    ended: share(rows.map(({ end }) => Number(end === "done"))),
    rows,
  };
}

const gradeNames = ["size", "things", "level"];

const gradesOf = ({ extra }: Task): string[] =>
  gradeNames.flatMap((name) =>
    typeof extra[name] === "number" ? [`${name} ${String(extra[name])}`] : [],
  );

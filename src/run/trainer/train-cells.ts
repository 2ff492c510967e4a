import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { merge, type Tree } from "../config/tree.js";
import { defined } from "../../../common/options/defined.js";
import { completeTask, type TaskInput } from "../../tasks/task.js";
import type { TaskSet } from "../../tasks/tasks/task-set.js";
import type { EnvironmentSource } from "../../environments/environment.js";
import type { OptionTable } from "../../../common/options/option-table.js";
import type { WithOwnLoss } from "../../learn/losses/registry.js";
import type { Trainable } from "../../learn/update/trainee.js";
import type { Policy } from "../../policy/policies.js";
import { deepResearch } from "../../reward/rewards/deep-research.js";
import { environmentReward } from "../../reward/rewards/environment.js";
import { type LiveShow, watchAs } from "../../base/show/show-as.js";
import { ToolSet, toolSetOf } from "../../tools/tool-set.js";
import { taskTools } from "../../tasks/task-tools.js";
import { checkTruths } from "../../reward/score.js";
import { loadConfig } from "../config/load.js";
import type { ConfigPreset } from "../config/presets.js";
import { ProgressLine } from "../../base/show/progress-line.js";
import { type CellTraining, cellKeys, cellRules, cellTold, checkCell } from "./cell-options.js";
import { referenceOf } from "./reference-of.js";
import { Trainer } from "./trainer.js";
import { TrainingRun } from "./training-run.js";

/**
 * Trains a policy on a family of tasks from a cell: the trainer, without a run folder. The policy is
 * changed in place.
 *
 * @param policy the policy to train; it is changed in place
 * @param tasks a family of tasks, or your own with `train` and `test`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { tasks } from "arpo-lab/run";
 * import { Model } from "arpo-lab/model";
 * import { Policy } from "arpo-lab/policy";
 * import { CodePointTokenizer } from "arpo-lab/experimental/testing";
 * import { trainOn } from "arpo-lab/run";
 * import { ToolSet } from "arpo-lab/tools";
 *
 * // Usually: await Policy.load("data/models/tiny"), and no more than `steps` and `prompts`.
 * const sizes = { vocabSize: 256, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
 * const context = { contextLength: 128 };
 * const policy = Policy.fromModel(Model.init({ ...sizes, ...context }, 1), new CodePointTokenizer());
 * const { steps } = await trainOn(policy, tasks.calc({ train: 2, test: 1 }), {
 *   ...{ preset: "grpo", steps: 2, prompts: 1, n: 2, live: false, tools: new ToolSet() },
 *   reward: ({ response }) => response.length,
 * });
 * assert.deepEqual(steps.map(({ step }) => step), [1, 2]);
 * policy.dispose();
 * ```
 */
export async function trainOn<T extends OptionTable = Record<never, never>>(
  policy: Policy & Trainable,
  tasks:
    TaskSet | { train: readonly TaskInput[]; test?: readonly TaskInput[] } | readonly TaskInput[],
  options?: WithOwnLoss<CellTraining, T>,
): Promise<TrainingRun> {
  return trained(policy, tasks, options === undefined ? {} : options);
}

type Tasks = Parameters<typeof trainOn>[1];

/** The same, whatever the loss. */
async function trained(
  policy: Policy & Trainable,
  tasks: Tasks,
  options: CellTraining,
): Promise<TrainingRun> {
  checkArguments(
    "train",
    { policy, tasks },
    { policy: "policy", tasks: Array.isArray(tasks) ? "list" : "object" },
  );
  checkOptions("train", options, cellRules(options));
  checkCell(options);
  const { preset = "arpo", testEvery, onStep, budget } = options;
  if (budget && (options.steps !== undefined || Object.keys(defined(budget)).length === 0)) {
    throw new RangeError(
      `Cannot train: budget must hold tokens, calls or trajectories, and steps must then be left out, got ${options.steps === undefined ? "an empty budget" : `steps ${options.steps}`}`,
    );
  }
  const own = "train" in tasks ? tasks : { train: tasks };
  const complete = (list: readonly TaskInput[]) =>
    list.map((task, i) => completeTask("train", task, i));
  const sets: Pick<TaskSet, "train" | "test" | "environment" | "pages"> = {
    ...own,
    train: complete(own.train),
    test: complete(own.test ?? []),
  };
  const { environment = sets.environment } = options;
  if (!options.reward && !environment) checkTruths("train", sets.train);
  const { learningRate = isLarge(policy) ? 1e-5 : undefined } = options;
  const callLimit = options.callLimit ?? (environment ? 16 : undefined);
  const { config } = await loadConfig({
    preset: [preset, "tiny"] satisfies ConfigPreset[],
    values: merge(
      cellKeys(defined({ ...options, callLimit })),
      learningRate === undefined ? {} : steadyRate(learningRate),
    ),
    overrides: options.overrides ?? [],
  });
  const { reference } = {
    ...("model" in policy ? referenceOf(config, policy.model) : {}),
    ...defined({ reference: options.reference }),
  };
  const line = new ProgressLine();
  const live: { show?: LiveShow | undefined } = {};
  const trainer: Trainer = new Trainer({
    config,
    policy,
    sampler: options.sampler,
    ...defined({ ranking: options.ranking }),
    tools: options.tools
      ? toolSetOf("train", options.tools)
      : await toolsFor(environment, callLimit, sets.pages),
    ...defined({ reference }),
    told: cellTold(options),
    environment,
    reward: options.reward ?? (environment ? environmentReward : deepResearch),
    train: sets.train,
    validation: sets.test,
    signal: options.signal,
    onProgress: (progress) => live.show?.tell?.(line.tell(progress)),
  });
  const run = new TrainingRun(trainer);
  const test = async (step: number) => {
    if (sets.test.length === 0) return;
    run.validation.push({ step, metrics: (await trainer.validate()).metrics });
  };
  const tests = testEvery !== undefined || options.testAt !== undefined;
  const shown = options.live === false ? undefined : watchAs("TrainingRun", run);
  live.show = shown;
  try {
    if (tests) await test(0);
    for await (const step of trainer) {
      run.steps.push(step);
      const due = testEvery !== undefined && step.step % testEvery === 0;
      if (due || step.reachesTest || (tests && trainer.progress >= 1)) await test(step.step);
      shown?.step();
      await onStep?.(step, run);
      if (shown?.stopping && trainer.progress < 1) {
        run.stoppedAt = step.step;
        break;
      }
    }
  } finally {
    shown?.done();
  }
  return run;
}

/** A learning rate that is the same for all steps. */
const steadyRate = (rate: number): Tree => ({
  actor_rollout_ref: {
    actor: { optim: { lr: rate, warmup_style: "constant", lr_warmup_steps_ratio: 0 } },
  },
});

/** Whether a model in memory has more than 50 million weights: the bound at which `doctor` warns of high learning rates. */
function isLarge(policy: Trainable): boolean {
  if (!("model" in policy)) return false;
  let count = 0;
  for (const { size } of policy.model.weights.values()) count += size;
  return count > 50e6;
}

/** What trajectories may call besides their environment. */
async function toolsFor(
  acts: EnvironmentSource | undefined,
  callLimit: number | undefined,
  pages: TaskSet["pages"],
) {
  const limits = callLimit === undefined ? {} : { callLimit };
  if (acts) return new ToolSet([], limits);
  if (pages) return taskTools({ pages }, limits);
  return (await import("../session-defaults.js")).tools;
}

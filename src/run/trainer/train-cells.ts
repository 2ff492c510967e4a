import { checkArguments, shown } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { merge, type Tree } from "../config/tree.js";
import { defined } from "../../../common/options/defined.js";
import { completeTask, type TaskInput } from "../../tasks/task.js";
import type { TaskSet } from "../../tasks/tasks/task-set.js";
import type { EnvironmentSource } from "../../environments/environment.js";
import type { OptionTable } from "../../../common/options/option-table.js";
import { checkLossOptions, type WithOwnLoss } from "../../learn/losses/registry.js";
import type { Trainable } from "../../learn/update/trainee.js";
import type { Policy } from "../../policy/policies.js";
import { deepResearch } from "../../reward/rewards/deep-research.js";
import { environmentReward } from "../../reward/rewards/environment.js";
import { type LiveShow, stepLines, watchAs } from "../../base/show/show-as.js";
import type { StepLines } from "../../base/show/step-lines.js";
import { diagnose } from "../../reward/findings/diagnose.js";
import { Scored } from "../../reward/scored.js";
import { withDescription } from "../../rollout/native-calls.js";
import type { ToolWatch } from "../../rollout/watch-tools.js";
import type { Told } from "./options.js";
import { watchTools } from "../../rollout/rollout.js";
import { ToolSet, toolSetOf } from "../../tools/tool-set.js";
import { taskTools } from "../../tasks/task-tools.js";
import { checkTruths } from "../../reward/score.js";
import { lossOptions } from "../config/loss-keys.js";
import { loadConfig } from "../config/load.js";
import type { ConfigPreset } from "../config/presets.js";
import { ProgressLine } from "../../base/show/progress-line.js";
import { type CellTraining, cellKeys, cellRules, cellTold, checkCell } from "./cell-options.js";
import { referenceOf } from "./reference-of.js";
import { Trainer, type TrainerStep } from "./trainer.js";
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
  if (!(own.train?.length > 0)) {
    throw new RangeError(
      `Cannot train: there must be a list of training tasks, got ${shown(own.train)}`,
    );
  }
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
      cellKeys(defined({ ...options, callLimit }), sets.train.length),
      learningRate === undefined ? {} : steadyRate(learningRate),
    ),
    overrides: options.overrides ?? [],
  });
  checkLossOptions("train", options, lossOptions(config));
  const model = "model" in policy ? policy.model : undefined;
  const before = model && !options.reference ? referenceOf(config, model) : {};
  const { reference } = { ...before, ...defined({ reference: options.reference }) };
  const tools = options.tools
    ? toolSetOf("train", options.tools)
    : await toolsFor(environment, callLimit, sets.pages);
  const { quiet = false, calls } = options;
  const told = defined({ tools, environment, calls, describe: options.describe });
  const described = withDescription(policy.tokenizer, told, sets.train);
  const { call_limit } = config.actor_rollout_ref.rollout.tools;
  const { response_length: responseLength } = config.actor_rollout_ref.rollout;
  const watch = await watchTools(
    policy,
    { ...described, quiet },
    { callLimit: call_limit, responseLength },
  );
  const lines = await stepLines(quiet);
  const line = new ProgressLine();
  const live: { show?: LiveShow | undefined } = {};
  const trainer: Trainer = new Trainer({
    config,
    policy,
    sampler: options.sampler,
    ...defined({ ranking: options.ranking }),
    tools,
    ...defined({ reference }),
    told: watch ? heardBy(watch, cellTold(options)) : cellTold(options),
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
  const watched = options.live === false ? undefined : watchAs("TrainingRun", run);
  live.show = watched;
  try {
    if (tests) await test(0);
    for await (const step of trainer) {
      run.steps.push(step);
      const due = testEvery !== undefined && step.step % testEvery === 0;
      if (due || step.reachesTest || (tests && trainer.progress >= 1)) await test(step.step);
      watched?.step();
      lines?.step({ ...step, progress: trainer.progress, figures: figuresOf(step) });
      await onStep?.(step, run);
      if (watched?.stopping && trainer.progress < 1) {
        run.stoppedAt = step.step;
        break;
      }
    }
  } finally {
    watched?.done();
    watch?.end();
    trainer.dispose();
    before.reference?.dispose();
  }
  if (lines && run.steps.length > 0) sayFound(run, lines);
  return run;
}

/** What a run is told, with the events of its rollouts for whoever watches tools. */
const heardBy = (watch: ToolWatch, told: Told): Told => ({
  ...told,
  rollout: { ...told.rollout, onEvent: (event) => watch.see(event) },
});

/** A step in a few figures. */
function figuresOf({ metrics }: TrainerStep): string[] {
  const { [meanScore]: score = NaN, "actor/entropy_loss": entropy } = metrics;
  const length = metrics["response_length/mean"];
  return [
    `score ${score.toFixed(3)}`,
    ...(entropy === undefined ? [] : [`entropy ${entropy.toFixed(2)}`]),
    ...(length === undefined ? [] : [`${Math.round(length)} tokens`]),
  ];
}

const meanScore = "critic/score/mean";

/** What a run came to, and what is wrong with the rewards of all its steps. */
function sayFound({ steps }: TrainingRun, lines: StepLines): void {
  const [first, last] = [steps[0]!, steps.at(-1)!].map(({ metrics }) => metrics[meanScore] ?? NaN);
  const count = `${steps.length} ${steps.length === 1 ? "step" : "steps"}`;
  lines.end(`trained ${count}, score ${first!.toFixed(3)} -> ${last!.toFixed(3)}`);
  const all = new Scored(
    steps.flatMap(({ scored }) => scored.trajectories),
    steps.flatMap(({ scored }) => scored.trees),
  );
  for (const { message } of diagnose(all)) lines.say(message);
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

import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  integer,
  listOf,
  notNegative,
  oneOf,
  type OptionRules,
  optionsOf,
  required,
} from "../../../common/options/check-options.js";
import type { TokenRanking } from "../../rollout/branch/family/signals.js";
import { rolloutRules } from "../../rollout/options.js";
import { rolloutSettings } from "../../rollout/settings.js";
import { keysWith } from "../config/from-table.js";
import { merge } from "../config/tree.js";
import { defined } from "../../../common/options/defined.js";
import { completeTask, type TaskInput } from "../../tasks/task.js";
import type { TaskSet } from "../../tasks/tasks/task-set.js";
import type { EnvironmentSource } from "../../environments/environment.js";
import type { Trainable } from "../../learn/update/trainee.js";
import type { Policy } from "../../policy/policies.js";
import type { Reward } from "../../reward/reward-function.js";
import { deepResearch } from "../../reward/rewards/deep-research.js";
import { environmentReward } from "../../reward/rewards/environment.js";
import { type LiveShow, showAs, type Shown, watchAs } from "../../base/show/show-as.js";
import { ToolSet, type Tools, toolSetOf } from "../../tools/tool-set.js";
import { taskTools } from "../../tasks/task-tools.js";
import { checkTruths } from "../../reward/score.js";
import { loadConfig } from "../config/load.js";
import type { ConfigPreset } from "../config/presets.js";
import { ProgressLine } from "../../base/show/progress-line.js";
import { Trainer, type TrainerStep } from "./trainer.js";

export interface CellTraining {
  /** The algorithm. Default: `arpo`. */
  preset?: "grpo" | "arpo" | "aepo";
  /** Default: 10, where there is no `budget`. */
  steps?: number;
  /**
   * Train until the rollouts have cost so much, in place of `steps`; the step that reaches it is
   * the last. Default: none, `steps` decides.
   */
  budget?: { tokens?: number; calls?: number; trajectories?: number };
  /** Raise the learning rate over so many tokens. Default: as the `tiny` preset, over a tenth of the run. */
  warmup?: { tokens: number };
  /** Also measure the held-out tasks behind the steps that reach these. Default: none. */
  testAt?: { tokens?: readonly number[]; calls?: readonly number[] };
  /**
   * Roll out further prompts until the run has so many tokens per step: runs that are compared then
   * make equally many updates. `prompts` is the fewest of a step. Default: none, `prompts` decides.
   */
  tokensPerStep?: number;
  /** Prompts per step. Default: 8. */
  prompts?: number;
  /** Trajectories per prompt. Default: the preset's, 16 for `arpo`, `aepo` and `grpo`. */
  n?: number;
  /**
   * The same for all steps. Default: the `tiny` preset's, which rises to 3e-4 and falls; for a model of more
   * than 50 million weights 1e-5, because 3e-4 makes it forget what it could.
   */
  learningRate?: number;
  /** Prompts per optimiser step; must divide `prompts`. Default: 2, of an odd number 1. */
  miniBatch?: number;
  /** The same seed gives the same run. Default: 1. */
  seed?: number;
  /** The longest answer, in tokens, results of tools among them. Default: the `tiny` preset's. */
  responseLength?: number;
  /**
   * Branch at the tokens to which this function gives the greatest numbers, under a rule that ranks
   * tokens: `overrides: ["lab.branch_rule=arpo-paper"]`, for example.
   * Default: the rule's own.
   */
  ranking?: TokenRanking;
  /**
   * Any other key of a configuration: `key=value`, as on the command line (docs/config.md). They
   * come last. Default: none.
   */
  overrides?: readonly string[];
  /** Default: Python and the invented world's search; in an environment none besides its own. */
  tools?: Tools;
  /** The world that trajectories act in. Default: the family's own, where it has one. */
  environment?: EnvironmentSource;
  /** Calls of one trajectory. Default: 3, in an environment 16. */
  callLimit?: number;
  /** Default: ARPO's, in an environment its own. */
  reward?: Reward;
  /**
   * What rolls out, where that is not `policy`: an endpoint, a copy. The update corrects for it.
   * Default: `policy`.
   */
  sampler?: Policy;
  /** Measure the held-out tasks every so many steps, and before the first. Default: never. */
  testEvery?: number;
  /** Show the run on its board while it continues, where a notebook looks. Default: true. */
  live?: boolean;
  /** Called after each step. Default: none. */
  onStep?: (step: TrainerStep, run: TrainingRun) => void | Promise<void>;
  /** Stops the run with an error. Default: none. */
  signal?: AbortSignal;
}

const rules: OptionRules<CellTraining> = {
  preset: oneOf(["grpo", "arpo", "aepo"]),
  steps: integer(1),
  budget: optionsOf<Required<CellTraining>["budget"]>({
    tokens: integer(1),
    calls: integer(1),
    trajectories: integer(1),
  }),
  warmup: optionsOf<Required<CellTraining>["warmup"]>({ tokens: required(integer(1)) }),
  testAt: optionsOf<Required<CellTraining>["testAt"]>({
    tokens: listOf(integer(1), "integers of at least 1"),
    calls: listOf(integer(1), "integers of at least 1"),
  }),
  tokensPerStep: integer(1),
  prompts: integer(1),
  n: integer(1),
  learningRate: notNegative,
  miniBatch: integer(1),
  seed: integer(0),
  responseLength: integer(1),
  ranking: "function?",
  overrides: listOf("text", "texts"),
  tools: rolloutRules.tools,
  environment: "function?",
  callLimit: integer(0),
  reward: "reward?",
  sampler: "policy?",
  testEvery: integer(1),
  live: "boolean?",
  onStep: "function?",
  signal: "signal?",
};

/**
 * A training run made in a cell: its steps stay open to be looked at.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { tasks } from "arpo-lab/run";
 * import { Model } from "arpo-lab/model";
 * import { Policy } from "arpo-lab/policy";
 * import { CodePointTokenizer } from "arpo-lab/experimental/testing";
 * import { TrainingRun, trainOn } from "arpo-lab/run";
 * import { ToolSet } from "arpo-lab/tools";
 *
 * const sizes = { vocabSize: 256, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
 * const context = { contextLength: 128 };
 * const policy = Policy.fromModel(Model.init({ ...sizes, ...context }, 1), new CodePointTokenizer());
 * const options = { preset: "grpo", steps: 1, prompts: 1, n: 2, tools: new ToolSet() } as const;
 * const run = await trainOn(policy, tasks.calc({ train: 1, test: 1 }), { ...options, live: false });
 * assert.ok(run instanceof TrainingRun);
 * assert.equal(run.curve("critic/score/mean").length, 1);
 * assert.match(String(run), /^step\tscore\tentropy/);
 * policy.dispose();
 * ```
 */
export class TrainingRun {
  readonly steps: TrainerStep[] = [];
  /** Held-out figures by step. */
  readonly validation: { step: number; metrics: Record<string, number> }[] = [];
  /** The step it was stopped after, by the button on its page. */
  stoppedAt: number | undefined;

  /** @param trainer the trainer that does the steps */
  constructor(readonly trainer: Trainer) {}

  /**
   * One metric over the steps.
   * @param metric the metric's name
   */
  curve(metric: string): { step: number; value: number }[] {
    return this.steps.flatMap(({ step, metrics }) =>
      metrics[metric] === undefined ? [] : [{ step, value: metrics[metric] }],
    );
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    const stopped = this.stoppedAt === undefined ? "" : `, stopped at step ${this.stoppedAt}`;
    return { group: "Runs", text: `${this.steps.length} steps${stopped}` };
  }

  /** A table of the steps. */
  toString(): string {
    const lines = this.steps.map(({ step, metrics }) =>
      [
        step,
        metrics["critic/score/mean"]?.toFixed(3),
        metrics["actor/entropy_loss"]?.toFixed(3),
        metrics["actor/pg_clipfrac"]?.toFixed(3),
        metrics["response_length/mean"]?.toFixed(1),
      ].join("\t"),
    );
    const held = this.validation.map(
      ({ step, metrics }) =>
        `step ${step}: ${Object.entries(metrics)
          .filter(([name]) => name.startsWith("val-core/"))
          .map(([name, value]) => `${name.split("/")[1]} ${value.toFixed(3)}`)
          .join(", ")}`,
    );
    return ["step\tscore\tentropy\tclipped\ttokens", ...lines, ...held].join("\n");
  }

  [Symbol.for("Jupyter.display")](): Shown {
    return showAs("TrainingRun", this);
  }
}

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
export async function trainOn(
  policy: Policy & Trainable,
  tasks:
    TaskSet | { train: readonly TaskInput[]; test?: readonly TaskInput[] } | readonly TaskInput[],
  options: CellTraining = {},
): Promise<TrainingRun> {
  checkArguments(
    "train",
    { policy, tasks },
    { policy: "policy", tasks: Array.isArray(tasks) ? "list" : "object" },
  );
  checkOptions("train", options, rules);
  const { preset = "arpo", prompts = 8, testEvery, onStep, budget } = options;
  if (budget && (options.steps !== undefined || Object.keys(defined(budget)).length === 0)) {
    throw new RangeError(
      `Cannot train: budget must hold tokens, calls or trajectories, and steps must then be left out, got ${options.steps === undefined ? "an empty budget" : `steps ${options.steps}`}`,
    );
  }
  const given = "train" in tasks ? tasks : { train: tasks };
  const complete = (list: readonly TaskInput[]) =>
    list.map((task, i) => completeTask("train", task, i));
  const sets: Pick<TaskSet, "train" | "test" | "environment" | "pages"> = {
    ...given,
    train: complete(given.train),
    test: complete(given.test ?? []),
  };
  const { environment = sets.environment } = options;
  if (!options.reward && !environment) checkTruths("train", sets.train);
  const { learningRate = isLarge(policy) ? 1e-5 : undefined } = options;
  const callLimit = options.callLimit ?? (environment ? 16 : undefined);
  const { config } = await loadConfig({
    preset: [preset, "tiny"] satisfies ConfigPreset[],
    values: merge(
      {
        lab: {
          seed: options.seed ?? 1,
          budget: {
            ...budget,
            ...defined({
              warmup_tokens: options.warmup?.tokens,
              tokens_per_step: options.tokensPerStep,
              test_at_tokens: options.testAt?.tokens as number[] | undefined,
              test_at_calls: options.testAt?.calls as number[] | undefined,
            }),
          },
        },
        trainer: { total_training_steps: options.steps ?? 10 },
        data: {
          train_batch_size: prompts,
          ...defined({ max_response_length: options.responseLength }),
        },
        actor_rollout_ref: {
          actor: {
            ...(learningRate === undefined
              ? {}
              : {
                  optim: {
                    lr: learningRate,
                    warmup_style: "constant",
                    lr_warmup_steps_ratio: 0,
                  },
                }),
            ppo_mini_batch_size: options.miniBatch ?? (prompts % 2 === 0 ? 2 : 1),
          },
        },
      },
      keysWith(rolloutSettings, {
        callLimit,
        n: options.n,
        // Trees start with half of their trajectories; where nothing branches, all start at once.
        initialRollouts:
          options.n === undefined || preset === "grpo" ? options.n : Math.ceil(options.n / 2),
      }),
    ),
    overrides: options.overrides ?? [],
  });
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

import type { Task, TaskSet } from "../../data/index.js";
import type { Model } from "../../model/index.js";
import type { Policy } from "../../policy/index.js";
import { type RewardFunction, deepResearch } from "../../reward/index.js";
import type { ToolSet } from "../../tools/index.js";
import { loadConfig } from "../config/load.js";
import type { Preset } from "../config/presets.js";
import { runDisplay } from "./run-display.js";
import { Trainer, type TrainerStep } from "./trainer.js";

export interface CellTraining {
  preset?: "grpo" | "arpo" | "aepo";
  steps?: number;
  /** Prompts per step. */
  prompts?: number;
  /** Rows per prompt. */
  n?: number;
  /** The same for all steps. Default: the `tiny` preset's, which rises and falls. */
  learningRate?: number;
  /** Prompts per optimiser step. */
  miniBatch?: number;
  seed?: number;
  tools?: ToolSet;
  reward?: RewardFunction;
  /** Measure the held-out tasks every so many steps, and before the first. */
  testEvery?: number;
  /** Show the run on its board while it goes on, where a notebook looks. Default: true. */
  live?: boolean;
  onStep?: (step: TrainerStep, run: TrainingRun) => void | Promise<void>;
  signal?: AbortSignal;
}

/** A training run made in a cell: its steps stay open to be looked at. */
export class TrainingRun {
  readonly steps: TrainerStep[] = [];
  /** Held-out figures by step. */
  readonly validation: { step: number; metrics: Record<string, number> }[] = [];

  constructor(readonly trainer: Trainer) {}

  /** One metric over the steps. */
  curve(metric: string): { step: number; value: number }[] {
    return this.steps.flatMap(({ step, metrics }) =>
      metrics[metric] === undefined ? [] : [{ step, value: metrics[metric] }],
    );
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return { group: "Runs", text: `${this.steps.length} steps` };
  }

  [Symbol.for("Jupyter.display")](): ReturnType<typeof runDisplay.show> {
    return runDisplay.show(this);
  }
}

/**
 * Trains a policy on a family of tasks from a cell: the trainer, without a run folder. The policy is
 * changed in place.
 */
export async function trainOn(
  policy: Policy & { readonly model: Model },
  tasks: TaskSet | readonly Task[],
  options: CellTraining = {},
): Promise<TrainingRun> {
  const { preset = "arpo", steps = 10, testEvery, onStep } = options;
  const { config } = await loadConfig({
    preset: [preset, "tiny"] satisfies Preset[],
    values: {
      lab: { seed: options.seed ?? 1 },
      trainer: { total_training_steps: steps },
      data: { train_batch_size: options.prompts ?? 8 },
      actor_rollout_ref: {
        actor: {
          ...(options.learningRate === undefined
            ? {}
            : {
                optim: {
                  lr: options.learningRate,
                  warmup_style: "constant",
                  lr_warmup_steps_ratio: 0,
                },
              }),
          ppo_mini_batch_size: options.miniBatch ?? 2,
        },
        rollout: {
          ...(options.n === undefined
            ? {}
            : // Trees start with half of their rows; where nothing branches, all start at once.
              {
                n: options.n,
                initial_rollouts: preset === "grpo" ? options.n : Math.ceil(options.n / 2),
              }),
        },
      },
    },
  });
  const sets = "train" in tasks ? tasks : { train: tasks, test: [] };
  const trainer = new Trainer({
    config,
    policy,
    tools: options.tools ?? (await import("../../defaults/index.js")).tools,
    reward: options.reward ?? deepResearch,
    train: sets.train,
    validation: sets.test,
    ...(options.signal ? { signal: options.signal } : {}),
  });
  const run = new TrainingRun(trainer);
  const test = async (step: number) => {
    if (testEvery === undefined || sets.test.length === 0) return;
    run.validation.push({ step, metrics: (await trainer.validate()).metrics });
  };
  await test(0);
  const shown = options.live === false ? undefined : runDisplay.watch(run);
  try {
    for await (const step of trainer) {
      run.steps.push(step);
      if (testEvery && (step.step % testEvery === 0 || step.step === steps)) await test(step.step);
      shown?.step();
      await onStep?.(step, run);
    }
  } finally {
    shown?.done();
  }
  return run;
}

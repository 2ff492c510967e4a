import { dirname, join } from "node:path";
import { mkdir } from "node:fs/promises";
import { type Task } from "../../data/index.js";
import { writeFault } from "../../model/index.js";
import type { Scored } from "../../reward/index.js";
import { type RolloutTree, saveTrees } from "../../rollout/index.js";
import { lockFolder } from "../folder/lock-folder.js";
import { makeFolder } from "../folder/make-folder.js";
import { RunFolder } from "../folder/run-folder.js";
import { guarded } from "../loggers/guarded.js";
import type { Logger } from "../loggers/logger.js";
import { type Best, restore, resumeFrom, saveCheckpoint } from "./checkpoint.js";
import { dumpAnswers } from "./dump-answers.js";
import { toolCallLines } from "./tool-call-lines.js";
import { Trainer, type TrainerParts, type TrainerStep } from "./trainer.js";

export interface TrainOptions {
  /** Where everything is saved. */
  folder: string;
  loggers?: readonly Logger[];
  /** Called after each step, before anything of it is saved. */
  onStep?: (step: TrainerStep) => void | Promise<void>;
  /** Told what a person should know: findings about rewards, skipped steps, loggers that failed. */
  warn?: (message: string) => void;
  /** Save each step's trees. Default: true. */
  keepRollouts?: boolean;
}

/** The one figure that says how good a checkpoint is: the mean over sources of the core means. */
function headline(metrics: Readonly<Record<string, number>>): number | undefined {
  const values = Object.entries(metrics).flatMap(([name, value]) =>
    /^val-core\/.*\/mean@\d+$/.test(name) ? [value] : [],
  );
  return values.length === 0 ? undefined : values.reduce((a, b) => a + b) / values.length;
}

/** Steps in a row without a single finite gradient after which a run has no chance left. */
const hopeless = 3;

/** Says which optimiser steps were skipped, and ends a run in which none is made any more. */
function watchGradients(warn: (message: string) => void): (step: TrainerStep) => void {
  let row: number[] = [];
  return ({ step, report }) => {
    if (!report || report.skippedSteps === 0) {
      row = [];
      return;
    }
    const { skippedSteps: skipped, optimizerSteps: all } = report;
    const norm = report.metrics["actor/grad_norm"];
    warn(
      `step ${step}: ${skipped} of ${all} optimiser steps were skipped because their gradient was not finite (norm ${norm}); the weights are unchanged by them`,
    );
    row = skipped === all ? [...row, step] : [];
    if (row.length >= hopeless) {
      throw new RangeError(
        `Cannot train: an update must have a finite gradient, got norm ${norm} in all of steps ${row.join(", ")}; look at the rewards and at the learning rate`,
      );
    }
  };
}

/**
 * Trains in a run folder: validates, saves and resumes as the configuration says. A run that was killed
 * and resumed ends with the same checkpoint and the same metrics, byte for byte, as one that was not.
 * Gives back the trainer as it ended.
 */
export async function train(parts: TrainerParts, options: TrainOptions): Promise<Trainer> {
  await makeFolder(options.folder).catch((error: unknown) => {
    throw writeFault(error, `open the run folder ${options.folder}`);
  });
  const release = await lockFolder(options.folder);
  try {
    return await trainAlone(parts, options);
  } finally {
    release();
  }
}

/** Training where nobody else writes. */
async function trainAlone(parts: TrainerParts, options: TrainOptions): Promise<Trainer> {
  const { trainer: schedule, lab, actor_rollout_ref: actor } = parts.config;
  const { folder, warn = () => undefined } = options;
  const run = await RunFolder.open(folder);
  const from = await resumeFrom(run, parts);
  const trainer = new Trainer(parts, from?.saved.trainer);
  if (from) await restore(trainer, from.path);
  let best: Best | null = from?.saved.best ?? null;
  await run.rewind(from ? trainer.step : -1);
  const { stringify } = await import("yaml");
  await run.write("config.yaml", stringify(parts.config));
  const logger = guarded(options.loggers ?? [], warn);
  const watch = watchGradients(warn);

  const record = async (step: number, metrics: Record<string, number>, timing = {}) => {
    await run.appendMetrics({ step, ...metrics });
    await run.append("timing.jsonl", { step, ...timing });
    await logger.log(step, { ...metrics, ...timing });
  };
  const keepTrees = async (name: string, trees: readonly RolloutTree<Task>[]) => {
    await run.save(name, async (path) => {
      await mkdir(dirname(path), { recursive: true });
      await saveTrees(path, trees);
    });
  };
  const dump = async (to: string | null, step: number, scored: Scored) => {
    if (to !== null) await run.save(to, () => dumpAnswers(to, step, scored));
  };
  const validate = async (step: number): Promise<Record<string, number>> => {
    if (parts.validation.length === 0) return {};
    const { metrics, trees, scored } = await trainer.validate();
    await keepTrees(join("validation", `${step}.jsonl`), trees);
    await dump(schedule.validation_data_dir, step, scored);
    await logger.answers(step, scored, schedule.log_val_generations);
    return metrics;
  };
  const due = (frequency: number, step: number) =>
    step === trainer.totalSteps || (frequency > 0 && step % frequency === 0);
  const prune = async () => {
    const last = schedule.max_actor_ckpt_to_keep;
    if (last !== null) await run.prune(last, lab.keep_best && best ? [best.step] : []);
  };

  try {
    await logger.begin({ step: trainer.step, totalSteps: trainer.totalSteps });
    // A process killed behind its last checkpoint had not come to this.
    if (from) await prune();
    if (trainer.step === 0 && schedule.val_before_train) await record(0, await validate(0));
    for await (const step of trainer) {
      await options.onStep?.(step);
      for (const finding of step.findings) warn(`step ${step.step}: ${finding.message}`);
      watch(step);
      if (options.keepRollouts !== false) {
        await keepTrees(join("rollouts", `${step.step}.jsonl`), step.trees);
      }
      if (actor.rollout.tools.verbose_logging) {
        await run.appendAll("tool_calls.jsonl", toolCallLines(step.step, step.trees));
      }
      await dump(schedule.rollout_data_dir, step.step, step.scored);
      const metrics = { ...step.metrics };
      if (due(schedule.test_freq, step.step)) {
        const found = await validate(step.step);
        Object.assign(metrics, found);
        const value = headline(found);
        if (value !== undefined && (!best || value > best.value)) {
          best = { step: step.step, value };
        }
      }
      await record(step.step, metrics, step.timing);
      const isBest = lab.keep_best && best?.step === step.step;
      if (due(schedule.save_freq, step.step) || isBest) {
        await run.checkpoint(step.step, (path) => saveCheckpoint(trainer, path, best));
        await prune();
      }
    }
  } catch (error) {
    await logger.close("failed");
    throw error;
  }
  await logger.close("finished");
  return trainer;
}

import { copyFile, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadModel, saveModel } from "../../model/index.js";
import type { Model } from "../../model/index.js";
import { saveTrees } from "../../rollout/index.js";
import { loadOptimizer, saveOptimizer } from "../folder/optimizer-file.js";
import { RunFolder } from "../folder/run-folder.js";
import type { Logger } from "../loggers/logger.js";
import { Trainer, type TrainerParts, type TrainerState, type TrainerStep } from "./trainer.js";

export interface TrainOptions {
  /** Where everything is saved. */
  folder: string;
  loggers?: readonly Logger[];
  /** Called after each step, before anything of it is saved. */
  onStep?: (step: TrainerStep) => void | Promise<void>;
  /** Told what a person should know: findings about rewards, skipped steps. */
  warn?: (message: string) => void;
  /** Save each step's trees. Default: true. */
  keepRollouts?: boolean;
}

/** Kept in a checkpoint beside weights and optimisers. */
interface Saved {
  trainer: TrainerState;
  best: { step: number; value: number } | null;
}

/** Tokenizer files travel with every checkpoint, so that each is a model on its own. */
const tokenizerFiles =
  /^(tokenizer.*|special_tokens_map|vocab|added_tokens)\.json$|\.jinja$|merges\.txt$/;

async function copyTokenizer(from: string, to: string): Promise<void> {
  for (const name of await readdir(from).catch(() => [])) {
    if (tokenizerFiles.test(name)) await copyFile(join(from, name), join(to, name));
  }
}

/** The one figure that says how good a checkpoint is: the mean over sources of the core means. */
function headline(metrics: Readonly<Record<string, number>>): number | undefined {
  const values = Object.entries(metrics).flatMap(([name, value]) =>
    /^val-core\/.*\/mean@\d+$/.test(name) ? [value] : [],
  );
  return values.length === 0 ? undefined : values.reduce((a, b) => a + b) / values.length;
}

/**
 * Trains in a run folder: validates, saves and resumes as the configuration says. A run that was killed
 * and resumed ends with the same checkpoint and the same metrics, byte for byte, as one that was not.
 * Gives back the trainer as it ended.
 */
export async function train(parts: TrainerParts, options: TrainOptions): Promise<Trainer> {
  const { trainer: schedule, lab } = parts.config;
  const { folder, loggers = [], warn = () => undefined } = options;
  const run = await RunFolder.open(folder);
  const from = await resumeFrom(run, parts);
  const trainer = new Trainer(parts, from?.saved.trainer);
  if (from) await restore(trainer, from.path);
  let best = from?.saved.best ?? null;
  await run.rewind(from ? trainer.step : -1);
  const { stringify } = await import("yaml");
  await run.write("config.yaml", stringify(parts.config));

  const record = async (step: number, metrics: Record<string, number>, timing = {}) => {
    await run.appendMetrics({ step, ...metrics });
    await run.append("timing.jsonl", { step, ...timing });
    for (const logger of loggers) await logger.log(step, { ...metrics, ...timing });
  };
  const validate = async (step: number): Promise<Record<string, number>> => {
    if (parts.validation.length === 0) return {};
    const { metrics, trees } = await trainer.validate();
    await saveTrees(join(run.path, "validation", `${step}.jsonl`), trees);
    return metrics;
  };
  const due = (frequency: number, step: number) =>
    step === trainer.totalSteps || (frequency > 0 && step % frequency === 0);

  if (trainer.step === 0 && schedule.val_before_train) await record(0, await validate(0));
  for await (const step of trainer) {
    await options.onStep?.(step);
    for (const finding of step.findings) warn(`step ${step.step}: ${finding.message}`);
    if (step.report && step.report.skippedSteps > 0) {
      warn(
        `step ${step.step}: ${step.report.skippedSteps} optimiser steps were skipped because their gradient was not finite; the weights are unchanged by them`,
      );
    }
    if (options.keepRollouts !== false) {
      await saveTrees(join(run.path, "rollouts", `${step.step}.jsonl`), step.trees);
    }
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
      await run.checkpoint(step.step, (path) => save(trainer, path, { best }));
      const keep = lab.keep_best && best ? [best.step] : [];
      const last = schedule.max_actor_ckpt_to_keep;
      if (last !== null) await run.prune(last, keep);
    }
  }
  for (const logger of loggers) await logger.close?.();
  return trainer;
}

async function save(trainer: Trainer, path: string, extra: Pick<Saved, "best">): Promise<void> {
  const { config, policy } = trainer.parts;
  const actor = join(path, "actor");
  await mkdir(actor);
  await saveModel(policy.model, actor);
  await copyTokenizer(config.actor_rollout_ref.model.path, actor);
  await saveOptimizer(await trainer.learner.state(), join(path, "actor-optimizer.safetensors"));
  if (trainer.critic) {
    const critic = join(path, "critic");
    await mkdir(critic);
    await saveModel(trainer.critic.model, critic);
    await saveOptimizer(await trainer.critic.state(), join(path, "critic-optimizer.safetensors"));
  }
  const saved: Saved = { trainer: trainer.state(), ...extra };
  await writeFile(join(path, "state.json"), `${JSON.stringify(saved, null, 1)}\n`);
}

/** The checkpoint to continue from, by `resume_mode`. */
async function resumeFrom(
  run: RunFolder,
  { config }: TrainerParts,
): Promise<{ path: string; saved: Saved } | undefined> {
  const { resume_mode: mode, resume_from_path: given } = config.trainer;
  if (mode === "disable") return undefined;
  const latest = await run.latest();
  const path =
    mode === "resume_path" ? given : latest === undefined ? undefined : run.checkpointPath(latest);
  if (path === null) {
    throw new RangeError(
      "Cannot resume: resume_mode resume_path needs trainer.resume_from_path, got none",
    );
  }
  if (path === undefined) return undefined;
  const text = await readFile(join(path, "state.json"), "utf8").catch(() => {
    throw new RangeError(`Cannot resume: ${path} must be a checkpoint of this program, got none`);
  });
  return { path, saved: JSON.parse(text) as Saved };
}

/** Puts a checkpoint's weights and moments into a trainer. */
async function restore(trainer: Trainer, path: string): Promise<void> {
  await overwrite(trainer.parts.policy.model, join(path, "actor"));
  trainer.learner.restore(await loadOptimizer(join(path, "actor-optimizer.safetensors")));
  if (trainer.critic) {
    await overwrite(trainer.critic.model, join(path, "critic"));
    trainer.critic.restore(await loadOptimizer(join(path, "critic-optimizer.safetensors")));
  }
}

async function overwrite(model: Model, folder: string): Promise<void> {
  const saved = await loadModel(folder);
  model.copyFrom(saved);
  saved.dispose();
}

import { write as output } from "#platform/note";
import { dirname, join } from "#platform/path";
import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  either,
  listOf,
  type OptionRules,
} from "../../../common/options/check-options.js";
import { makeFolder, writeDurably } from "../../../common/files/durable.js";
import { defined } from "../../../common/options/defined.js";
import type { Task } from "../../tasks/task.js";
import { spellingProblem } from "../../tasks/unspelled-words.js";
import { noneDiffers } from "../../reward/findings/of-rewards.js";
import type { Scored } from "../../reward/scored.js";
import { saveTrees } from "../../rollout/files/tree-files.js";
import { damagedTrees, treeSum, treeSums } from "../../rollout/files/tree-sums.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { ProgressLine } from "../../base/show/progress-line.js";
import { type LiveShow, watchAs } from "../../base/show/show-as.js";
import { UnhandledErrors } from "../../base/watch/unhandled-errors.js";
import { findingsLog, RunFolder } from "../folder/run-folder.js";
import { guarded } from "../loggers/logger.js";
import { type LoggerChoice, loggers, openLoggers } from "../loggers/registry.js";
import { type Best, restore, resumeFrom, saveCheckpoint } from "./checkpoint.js";
import { Trainer, type TrainerParts, type TrainerStep } from "./trainer.js";

/**
 * Writes a step's answers as the reference does where `rollout_data_dir` or `validation_data_dir` is
 * set: one JSONL file per step with input, output, score, step and what the reward said besides.
 */
export async function dumpAnswers(folder: string, step: number, scored: Scored): Promise<void> {
  const prompts = scored.trees.flatMap(({ selected: trajectories, prompt }) =>
    trajectories.map(() => prompt.text),
  );
  const lines = scored.trajectories.map(({ trajectory, score }, i) =>
    JSON.stringify({
      input: prompts[i],
      output: trajectory.text,
      score: score.score,
      step,
      reason: score.reason,
      ...defined({ answer: score.answer }),
      ...score.parts,
    }),
  );
  await makeFolder(folder);
  await writeDurably(join(folder, `${step}.jsonl`), lines.map((line) => `${line}\n`).join(""));
}

/** Every tool call of a step, one line each (`verbose_logging`). */
function toolCallLines(
  step: number,
  trees: readonly RolloutTree[],
): ({ step: number } & Record<string, unknown>)[] {
  return trees.flatMap(({ index, nodes }) =>
    nodes.flatMap(({ id, trajectory, round, tool, run }) =>
      tool
        ? [
            {
              step,
              tree: index,
              row: trajectory,
              round,
              node: id,
              ...tool,
              ms: run?.toolMs ?? null,
            },
          ]
        : [],
    ),
  );
}

/** What was found in the rollouts of a step, one line each, with the trajectories that show it. */
function findingLines({
  step,
  findings,
}: TrainerStep): ({ step: number } & Record<string, unknown>)[] {
  return findings.map(({ kind, title, message, where }) => ({ step, kind, title, message, where }));
}

export interface TrainOptions {
  /** Where everything is saved. */
  folder: string;
  /**
   * Where metrics go besides `metrics.jsonl`: loggers by name, by definition, or open already.
   * Default: nowhere.
   */
  loggers?: readonly LoggerChoice[];
  /** Takes the text of loggers that print. Default: standard output. */
  write?: (text: string) => void;
  /** Called after each step, before anything of it is saved. Default: none. */
  onStep?: (step: TrainerStep) => void | Promise<void>;
  /**
   * Told what a person should know: findings about rewards, skipped steps, loggers that failed.
   * Default: none.
   */
  warn?: (message: string) => void;
  /**
   * Once this is aborted, the run ends behind the step that is under way, which is saved; `train`
   * then throws its reason. (`parts.signal` ends it in the middle of a step.) Default: none.
   */
  stopping?: AbortSignal;
  /** Save each step's trees. Default: true. */
  keepRollouts?: boolean;
  /** Show the run on a board while it continues, where a notebook looks. Its Stop button ends it behind a step. Default: true. */
  live?: boolean;
}

const rules: OptionRules<TrainOptions> = {
  folder: "path",
  loggers: listOf(either(loggers.rule, "object"), "loggers"),
  write: "function?",
  onStep: "function?",
  warn: "function?",
  stopping: "signal?",
  keepRollouts: "boolean?",
  live: "boolean?",
};

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
  let series: number[] = [];
  return ({ step, report }) => {
    if (!report || report.skippedSteps === 0) {
      series = [];
      return;
    }
    const { skippedSteps: skipped, optimizerSteps: all } = report;
    const norm = report.metrics["actor/grad_norm"];
    warn(
      `step ${step}: ${skipped} of ${all} optimiser steps were skipped because their gradient was not finite (norm ${norm}); the weights are unchanged by them`,
    );
    series = skipped === all ? [...series, step] : [];
    if (series.length >= hopeless) {
      throw new RangeError(
        `Cannot train: an update must have a finite gradient, got norm ${norm} in all of steps ${series.join(", ")}; look at the rewards and at the learning rate`,
      );
    }
  };
}

/** First steps after which a run without any difference between rewards is told that nothing was learned. */
const firstSteps = 3;

/** Says that the first steps gave no learning signal, and what to do. */
function watchSignal(warn: (message: string) => void): (step: TrainerStep) => void {
  let without = 0;
  return ({ step, scored }) => {
    if (step > firstSteps) return;
    if (noneDiffers(scored.trajectories)) without++;
    if (without < firstSteps) return;
    warn(
      `no learning signal in the first ${firstSteps} steps: all rewards of each prompt are equal (mean ${scored.mean.toFixed(2)} in step ${step}), and the weights do not improve. arpo-lab sample shows the answers; do SFT on demonstrations first, from a pretrained model (arpo-lab fetch smollm2; docs/own.md)`,
    );
  };
}

/**
 * Trains in a run folder: validates, saves and resumes as the configuration says. A run that was killed
 * and resumed ends with the same checkpoint and the same metrics, byte for byte, as one that was not.
 * Gives back the trainer as it ended; in a cell, where its Stop button ended it.
 *
 * @param parts the policy, tasks, reward and configuration of the run
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp, readdir, rm } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { Model } from "arpo-lab/model";
 * import { Policy } from "arpo-lab/policy";
 * import { CodePointTokenizer } from "arpo-lab/experimental/testing";
 * import { loadConfig, tasks, train } from "arpo-lab/run";
 * import { ToolSet } from "arpo-lab/tools";
 *
 * // Usually: train(await assemble(config), { folder }).
 * const { config } = await loadConfig({
 *   preset: ["grpo", "tiny"],
 *   overrides: [
 *     "data.train_batch_size=1",
 *     "data.max_response_length=4",
 *     "actor_rollout_ref.actor.ppo_mini_batch_size=1",
 *     "trainer.total_training_steps=1",
 *     "trainer.val_before_train=false",
 *     "trainer.test_freq=-1",
 *   ],
 * });
 * const tokenizer = new CodePointTokenizer();
 * const sizes = { hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2, contextLength: 128 };
 * const model = Model.init({ ...sizes, vocabSize: tokenizer.vocabSize }, 1);
 * const policy = Policy.fromModel(model, tokenizer);
 * const reward = ({ response }: { response: string }) => response.length;
 * const sets = tasks.calc({ train: 1, test: 1 });
 * const parts = { config, policy, tools: new ToolSet(), reward, train: sets.train, validation: [] };
 * const folder = await mkdtemp(join(tmpdir(), "arpo-"));
 * const { step } = await train(parts, { folder });
 * assert.equal(step, 1);
 * assert.ok((await readdir(folder)).includes("global_step_1"));
 * await rm(folder, { recursive: true });
 * policy.dispose();
 * ```
 */
export async function train(parts: TrainerParts, options: TrainOptions): Promise<Trainer> {
  checkArguments("train", { parts }, { parts: { config: "object" } });
  checkOptions("train", options, rules);
  const run = await RunFolder.own(options.folder);
  try {
    return await trainAlone(run, parts, options);
  } finally {
    run.release();
  }
}

const cpuName = "perf/cpu_seconds";

/** The figures of a run in a folder so far, for a board; its trees are in the folder alone. */
class FolderRun {
  readonly steps: Pick<TrainerStep, "step" | "metrics" | "timing">[] = [];
  readonly validation = [];
  /** The step it was stopped after, by the button on its page. */
  stoppedAt: number | undefined;

  constructor(readonly trainer: Trainer) {}
}

/** Training where nobody else writes. */
async function trainAlone(
  run: RunFolder,
  parts: TrainerParts,
  options: TrainOptions,
): Promise<Trainer> {
  const { trainer: schedule, lab, actor_rollout_ref: actor } = parts.config;
  const { warn = () => undefined, stopping } = options;
  const from = await resumeFrom(run, parts);
  const line = new ProgressLine();
  const live: { show?: LiveShow | undefined } = {};
  const onProgress: TrainerParts["onProgress"] = (progress) => {
    parts.onProgress?.(progress);
    live.show?.tell?.(line.tell(progress));
  };
  const trainer = new Trainer({ ...parts, onProgress }, from?.saved.trainer);
  if (from) await restore(trainer, from);
  const soFar = new FolderRun(trainer);
  const shown = options.live === false ? undefined : watchAs("TrainingRun", soFar);
  live.show = shown;
  let best: Best | null = from?.saved.best ?? null;
  await run.rewind(from ? trainer.step : -1, { from: from?.path, first: 1, warn });
  for (const damage of await damagedTrees(run.path)) warn(damage);
  const { stringify } = await import("yaml");
  await run.write("config.yaml", stringify(parts.config));
  const named = { project: schedule.project_name, run: schedule.experiment_name };
  const opened = await openLoggers(
    options.loggers ?? [],
    {
      ...{ folder: run.path, ...named, config: parts.config, write: options.write ?? output },
      ...defined({ group: lab.group ?? undefined }),
    },
    warn,
  );
  const logger = guarded(opened, warn);
  const watch = watchGradients(warn);
  const watchRewards = watchSignal(warn);
  const unhandled = UnhandledErrors.watch(warn);

  // What an earlier process has used up to the checkpoint.
  const cpuBefore = Number((await run.lines("timing.jsonl")).at(-1)?.[cpuName] ?? 0);
  const record = async (
    step: number,
    metrics: Record<string, number>,
    timing: Record<string, number> = {},
  ) => {
    await run.appendMetrics({ step, ...metrics });
    soFar.steps.push({ step, metrics, timing });
    shown?.step();
    const cpu = timing[cpuName];
    const times = cpu === undefined ? timing : { ...timing, [cpuName]: cpuBefore + cpu };
    await run.append("timing.jsonl", { step, ...times });
    await logger.log(step, { ...metrics, ...times });
  };
  const keepTrees = async (part: string, step: number, trees: readonly RolloutTree<Task>[]) => {
    const name = `${part}/${step}.jsonl`;
    await run.save(name, async (path) => {
      await makeFolder(dirname(path));
      await saveTrees(path, trees);
    });
    await run.append(treeSums, { ...(await treeSum(run.path, step, name)) });
  };
  const dump = async (to: string | null, step: number, scored: Scored) => {
    if (to !== null) await run.save(to, () => dumpAnswers(to, step, scored));
  };
  const validate = async (step: number): Promise<Record<string, number>> => {
    if (parts.validation.length === 0) return {};
    const { metrics, trees, scored } = await trainer.validate();
    await keepTrees("validation", step, trees);
    await dump(schedule.validation_data_dir, step, scored);
    await logger.answers(step, scored, schedule.log_val_generations);
    return metrics;
  };
  const due = (frequency: number, step: number) =>
    trainer.progress >= 1 || (frequency > 0 && step % frequency === 0);
  const prune = async () => {
    const last = schedule.max_actor_ckpt_to_keep;
    if (last !== null) await run.prune(last, lab.keep_best && best ? [best.step] : []);
  };

  try {
    await logger.begin({ step: trainer.step, totalSteps: trainer.totalSteps });
    // A process killed behind its last checkpoint had not come to this.
    if (from) await prune();
    if (trainer.step === 0) {
      const problem = spellingProblem(parts.policy.tokenizer, parts.train);
      if (problem) warn(`${problem.found}. Better: ${problem.fix}`);
    }
    if (trainer.step === 0 && schedule.val_before_train) await record(0, await validate(0));
    if (trainer.progress < 1) stopping?.throwIfAborted();
    for await (const step of trainer) {
      await options.onStep?.(step);
      for (const finding of step.findings) warn(`step ${step.step}: ${finding.message}`);
      watch(step);
      watchRewards(step);
      if (options.keepRollouts !== false) {
        await keepTrees("rollouts", step.step, step.trees);
      }
      await run.appendAll(findingsLog, findingLines(step));
      if (actor.rollout.tools.verbose_logging) {
        await run.appendAll("tool_calls.jsonl", toolCallLines(step.step, step.trees));
      }
      await dump(schedule.rollout_data_dir, step.step, step.scored);
      const found = unhandled.take();
      const metrics = {
        ...step.metrics,
        ...(found > 0 ? { "training/stray_errors": found } : {}),
      };
      if (due(schedule.test_freq, step.step) || step.reachesTest) {
        const found = await validate(step.step);
        Object.assign(metrics, found);
        const value = headline(found);
        if (value !== undefined && (!best || value > best.value)) {
          best = { step: step.step, value };
        }
      }
      await record(step.step, metrics, step.timing);
      const isBest = lab.keep_best && best?.step === step.step;
      const asked = stopping?.aborted === true || shown?.stopping === true;
      const stops = asked && trainer.progress < 1;
      if (due(schedule.save_freq, step.step) || isBest || stops) {
        const { totalSteps, progress } = trainer;
        onProgress({ step: step.step, totalSteps, progress, doing: "saving" });
        await run.checkpoint(step.step, (path) => saveCheckpoint(trainer, path, best));
        await prune();
      }
      if (!stops) continue;
      stopping?.throwIfAborted();
      soFar.stoppedAt = step.step;
      break;
    }
  } catch (error) {
    await logger.close("failed");
    throw error;
  } finally {
    unhandled.end();
    shown?.done();
    trainer.dispose();
  }
  await logger.close("finished");
  return trainer;
}

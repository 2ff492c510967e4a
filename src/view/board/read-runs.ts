import { defined } from "../../../common/options/defined.js";
import type { ImportedRollouts } from "../../formats/imported-rollouts.js";
import { FineTuning } from "../../learn/sft/fine-tune.js";
import type { TrainingBatch } from "../../learn/batch.js";
import type { SftStep } from "../../learn/sft/train.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { Scored } from "../../reward/scored.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { TrainingRun } from "../../run/trainer/training-run.js";
import type { TrainerStep } from "../../run/trainer/trainer.js";
import { titleOfImported } from "../explorer/make-payload.js";
import type { MetricLine } from "../figures/curves.js";

/** A run: made in a cell, read from its folder, imported from other people's files, or lines of metrics. */
export type BoardRun = TrainingRun | FineTuning | ImportedRollouts | string | readonly MetricLine[];

/** One run, or runs by name; a list is the seeds of one. */
export type BoardRuns = BoardRun | Readonly<Record<string, BoardRun | readonly BoardRun[]>>;

/** Trees of one step, with what is known about them. */
export interface StepTrees {
  step: number;
  /** In memory, or in a file. */
  trees?: readonly RolloutTree[];
  path?: string;
  scored?: Scored;
  batch?: TrainingBatch;
  /** What its tree is called, where it was not rolled out here. */
  title?: string;
}

/** What was found in the rollouts of a step. */
export interface StepFinding {
  step: number;
  title: string;
  message: string;
  /** Trajectories that show it. */
  count: number;
}

/** One run as the board reads it. */
export interface RunRecord {
  name: string;
  lines: MetricLine[];
  trees: StepTrees[];
  findings?: readonly StepFinding[];
  total?: number;
  /** The step it was stopped after. */
  stopped?: number;
  tokenizer?: Tokenizer;
  /** Where its checkpoints are. */
  folder?: string;
}

/** A run as it is in memory; trained in a folder it has no trees here. */
type RunInMemory = Pick<TrainingRun, "trainer" | "validation" | "stoppedAt"> & {
  steps: readonly (Pick<TrainerStep, "step" | "metrics" | "timing"> &
    Partial<Pick<TrainerStep, "trees" | "scored" | "batch" | "findings">>)[];
};
const isRun = (value: object): value is TrainingRun => "trainer" in value && "steps" in value;
// Its code is not loaded where nothing is imported.
const isImported = (value: object): value is ImportedRollouts =>
  "carried" in value && "prompts" in value;
const isLines = (value: readonly unknown[]): value is readonly MetricLine[] =>
  value.length > 0 && typeof value[0] === "object" && value[0] !== null && "step" in value[0];

/** Runs by name, each with its seeds. */
export function namedRuns(runs: BoardRuns): [name: string, seeds: readonly BoardRun[]][] {
  if (typeof runs === "string")
    return [[runs.split(/[\\/]/).filter(Boolean).at(-1) ?? runs, [runs]]];
  if (isImported(runs)) return [[runs.format, [runs]]];
  if (isRun(runs) || runs instanceof FineTuning) return [["run", [runs]]];
  if (Array.isArray(runs)) return [["run", [runs as readonly MetricLine[]]]];
  const named = Object.entries(runs as Record<string, BoardRun | readonly BoardRun[]>);
  return named.map(([name, run]) => [
    name,
    Array.isArray(run) && !isLines(run as readonly unknown[])
      ? (run as readonly BoardRun[])
      : [run as BoardRun],
  ]);
}

/** A run that is in memory; undefined for one that must be read from its folder. */
export function recordOf(name: string, run: BoardRun): RunRecord | undefined {
  if (typeof run === "string") return undefined;
  if (isImported(run)) return recordOfImport(name, run);
  if (run instanceof FineTuning) return recordOfTuning(name, run);
  if (!isRun(run)) return { name, lines: [...run], trees: [] };
  const lines = new Map<number, MetricLine>();
  const add = (step: number, found: Readonly<Record<string, unknown>>) =>
    lines.set(step, { ...lines.get(step), ...found, step });
  const { steps }: RunInMemory = run;
  for (const { step, metrics, timing } of steps) add(step, { ...metrics, ...timing });
  for (const { step, metrics } of run.validation) add(step, metrics);
  return {
    name,
    lines: [...lines.values()].sort((a, b) => a.step - b.step),
    trees: steps.flatMap(({ step, trees, scored, batch }) =>
      trees ? [{ step, trees, ...defined({ scored, batch }) }] : [],
    ),
    findings: steps.flatMap(({ step, findings = [] }) =>
      findings.map(({ title, message, where }) => ({ step, title, message, count: where.length })),
    ),
    ...(Number.isFinite(run.trainer.totalSteps) ? { total: run.trainer.totalSteps } : {}),
    ...defined({ stopped: run.stoppedAt }),
  };
}

/** Fine-tuning has a loss and no trees. */
function recordOfTuning(name: string, run: FineTuning): RunRecord {
  const { steps, totalSteps: total, stoppedAt: stopped } = run;
  return { ...{ name, lines: tuningLines(steps), total, trees: [] }, ...defined({ stopped }) };
}

/** The steps of fine-tuning by the names that a board knows. */
export function tuningLines(steps: readonly SftStep[]): MetricLine[] {
  return steps.map(({ step, loss, evalLoss, gradientNorm, learningRate }) => ({
    step: step + 1,
    ...{ "train/loss": loss, "actor/grad_norm": gradientNorm, "train/lr": learningRate },
    ...defined({ "val/loss": evalLoss }),
  }));
}

/** Other people's rollouts: their numbers, and of each step the prompt whose scores differ most. */
function recordOfImport(name: string, imported: ImportedRollouts): RunRecord {
  const told = new Map<number, number>();
  const spread = (index: number) => {
    const { scores } = imported.prompts[index]!;
    return scores.length === 0 ? 0 : Math.max(...scores) - Math.min(...scores);
  };
  for (const { index, step = 0 } of imported.prompts) {
    const best = told.get(step);
    if (best === undefined || spread(index) > spread(best)) told.set(step, index);
  }
  const trees = [...told].map(([step, index]): StepTrees => {
    const [scored, batch] = [imported.scoredOf(index), imported.batchOf(index)];
    const tree = imported.tree(index) as unknown as RolloutTree;
    const title = titleOfImported(tree);
    return {
      step,
      title,
      trees: [tree],
      ...defined({ scored, batch }),
    };
  });
  return { name, lines: [...imported.steps], trees };
}

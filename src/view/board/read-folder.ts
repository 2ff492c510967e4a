import { defined } from "../../../common/options/defined.js";
import type { SftStep } from "../../learn/sft/train.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { RunFolder } from "../../run/folder/run-folder.js";
import {
  type BoardRun,
  type RunRecord,
  type StepFinding,
  type StepTrees,
  tuningLines,
} from "./read-runs.js";

/** Reads the folder of a run or of fine-tuning, without its trees: these are read when they are needed. */
export async function readRunFolder(name: string, path: string): Promise<RunRecord> {
  const { namesIfThere } = await import("../../base/files/read-if-there.js");
  const { RunFolder, tuningLayout } = await import("../../run/folder/run-folder.js");
  const names = await namesIfThere(path);
  if (names.includes(tuningLayout.log) && !names.includes("metrics.jsonl")) {
    return readTuning(name, await RunFolder.existing(path, tuningLayout));
  }
  return readTraining(name, await RunFolder.existing(path));
}

/** The steps of fine-tuning, from its log. */
async function readTuning(name: string, folder: RunFolder): Promise<RunRecord> {
  const steps = (await folder.metrics()) as unknown as SftStep[];
  const lines = tuningLines(steps);
  const total = steps.at(-1)?.totalSteps;
  const known = total === undefined ? {} : await comeTo(folder, lines.length, total);
  return { ...{ name, lines, trees: [] }, ...known };
}

/** How far a run is to go, and where it was stopped: nobody writes its folder and steps are left. */
async function comeTo(folder: RunFolder, step: number, total: number) {
  const { isTaken } = await import("../../run/folder/lock-folder.js");
  const isStopped = step < total && !(await isTaken(folder.path));
  return { total, ...(isStopped ? { stopped: step } : {}) };
}

async function readTraining(name: string, folder: RunFolder): Promise<RunRecord> {
  const { namesIfThere, readIfThere } = await import("../../base/files/read-if-there.js");
  const { findingsLog } = await import("../../run/folder/run-folder.js");
  const { join } = await import("#platform/path");
  const { path } = folder;
  const findings = findingsIn(await folder.lines(findingsLog));
  const timing = new Map((await folder.lines("timing.jsonl")).map((line) => [line.step, line]));
  const lines = (await folder.metrics()).map((line) => ({ ...timing.get(line.step), ...line }));
  const files = await namesIfThere(join(path, "rollouts"));
  const trees = files
    .flatMap((file): StepTrees[] => {
      const step = /^(\d+)\.(?:jsonl|parquet)$/.exec(file)?.[1];
      if (step === undefined) return [];
      return [{ step: Number(step), path: join(path, "rollouts", file) }];
    })
    .sort((a, b) => a.step - b.step);
  // The tokenizer of the model that was trained makes text of the trees' tokens.
  const config = (await readIfThere(join(path, "config.yaml"))) ?? "";
  const { parse } = await import("yaml");
  const settings = parse(config) as
    { actor_rollout_ref?: { model?: { path?: string } } } | undefined;
  const tokenizer = await tokenizerOf(path, settings?.actor_rollout_ref?.model?.path);
  return {
    ...{ name, lines, trees, findings, folder: path },
    ...defined({ tokenizer }),
    ...(await progressOf(folder)),
  };
}

/** Findings that a run wrote down; what is not of their form is left out: a folder may be another program's. */
function findingsIn(lines: readonly Readonly<Record<string, unknown>>[]): StepFinding[] {
  return lines.flatMap(({ step, title, message, where }) =>
    typeof step === "number" &&
    typeof title === "string" &&
    typeof message === "string" &&
    Array.isArray(where)
      ? [{ step, title, message, count: where.length }]
      : [],
  );
}

/** The same of a run, by the share of it that its last step reports. */
async function progressOf(folder: RunFolder) {
  const last = (await folder.metrics()).findLast((line) => "training/progress" in line);
  const share = last?.["training/progress"];
  if (!last || typeof share !== "number" || share <= 0) return {};
  // With a budget this is an estimate, so that only the steps without one are told.
  const total = last.step / share;
  const { stopped } = await comeTo(folder, last.step, total);
  const isWhole = Math.abs(total - Math.round(total)) < 1e-6;
  return { ...(isWhole ? { total: Math.round(total) } : {}), ...defined({ stopped }) };
}

/** The tokenizer of the run's model, or a checkpoint's: a run may have come from another folder or machine. */
async function tokenizerOf(run: string, model?: string): Promise<Tokenizer | undefined> {
  const { existsSync, readdirSync } = await import("#platform/files");
  const { join } = await import("#platform/path");
  const { modelFolder } = await import("../../model/files/model-folder.js");
  const saved = readdirSync(run).filter((name) => name.startsWith("global_step_"));
  const folders = [
    ...(model === undefined ? [] : [modelFolder(model)]),
    ...saved.map((name) => join(run, name, "actor")),
  ];
  const holds = (one: string) =>
    existsSync(/\.gguf$/i.test(one) ? one : join(one, "tokenizer.json"));
  const folder = folders.find(holds);
  // Without any, trees show token numbers.
  if (folder === undefined) return undefined;
  const { HfTokenizer } = await import("../../model/tokenizer/hf-tokenizer.js");
  return HfTokenizer.load(folder);
}

/** Runs by name; the folder of a sweep stands for its arms, each with the seeds that have begun. */
export async function withArms(
  named: readonly (readonly [name: string, seeds: readonly BoardRun[]])[],
): Promise<(readonly [name: string, seeds: readonly BoardRun[]])[]> {
  const all = await Promise.all(
    named.map(async (one) => {
      const [only, ...others] = one[1];
      const arms = typeof only === "string" && others.length === 0 ? await armsIn(only) : undefined;
      return arms ?? [one];
    }),
  );
  return all.flat();
}

/** The arms of a sweep's folder; undefined for another folder, and before a run of it has begun. */
async function armsIn(path: string): Promise<[arm: string, folders: string[]][] | undefined> {
  const { readIfThere } = await import("../../base/files/read-if-there.js");
  const { join } = await import("#platform/path");
  const { existsSync } = await import("#platform/files");
  const text = await readIfThere(join(path, "sweep.json"));
  if (text === undefined) return undefined;
  const arms = new Map<string, string[]>();
  for (const id of Object.keys(JSON.parse(text) as object)) {
    const folder = join(path, id);
    if (!existsSync(join(folder, "metrics.jsonl"))) continue;
    const arm = id.slice(0, id.lastIndexOf("/"));
    arms.set(arm, [...(arms.get(arm) ?? []), folder]);
  }
  return arms.size === 0 ? undefined : [...arms];
}

import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "#zod";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { namesIfThere } from "../../base/files/read-if-there.js";
import { rolloutConfig } from "../../rollout/config.js";
import { saveTrees } from "../../rollout/files/tree-files.js";
import { loadConfig } from "../../run/config/load.js";
import { rolloutOptions } from "../../run/trainer/options.js";
import { RunFolder } from "../../run/folder/run-folder.js";
import { treeOfRecord, treeRecord, type TreeRecord } from "./tree-record.js";

/** What was read of a run on verl. */
export interface VerlRunRead {
  /** The run folder. */
  folder: string;
  steps: number;
  trees: number;
  /** What entropies of its branches are. */
  entropyMeaning: string;
}

const metricLine = z.object({ step: z.number().int(), data: z.record(z.string(), z.unknown()) });
const answer = z.object({ uid: z.string(), score: z.number() });

/**
 * The whole lines of the files of a folder whose names fit, in the order of their names; a last one may
 * still grow.
 */
async function linesOf<T>(folder: string, fits: RegExp, read: z.ZodType<T>): Promise<T[]> {
  const names = (await namesIfThere(folder)).filter((name) => fits.test(name)).sort();
  const found: T[] = [];
  for (const name of names) {
    const text = await readFile(join(folder, name), "utf8");
    const whole = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
    for (const [i, line] of whole.entries()) {
      if (line === "") continue;
      try {
        found.push(read.parse(JSON.parse(line)));
      } catch (cause) {
        throw new SyntaxError(
          `Cannot read the run: line ${i + 1} of ${join(folder, name)} must be as verl and arpo_verl write it, got ${line.slice(0, 60)}`,
          { cause },
        );
      }
    }
  }
  return found;
}

/**
 * Scores by tree and trajectory: verl names a trajectory `UID_SESSION_OUTPUT`, and a session's number
 * is its trajectory's.
 */
async function scoresOf(folder: string): Promise<Map<string, Map<number, number>>> {
  const scores = new Map<string, Map<number, number>>();
  for (const { uid, score } of await linesOf(folder, /^\d+\.jsonl$/, answer)) {
    const [, tree, row] = /^(.+)_(\d+)_\d+$/.exec(uid) ?? [];
    if (tree === undefined) continue;
    const rows = scores.get(tree) ?? new Map<number, number>();
    scores.set(tree, rows.set(Number(row), score));
  }
  return scores;
}

/**
 * Makes a run folder of ours of what a run on verl has written so far: its figures, and the trees that
 * its agent loop grew, with their scores. Reading again adds what came since.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { exportVerl, readVerlRun } from "arpo-lab/experimental/scale";
 *
 * const job = `${await mkdtemp(join(tmpdir(), "arpo-verl-"))}/job`;
 * const overrides = ["data.train_files=tasks:calc?train=2", "data.val_files=tasks:calc?test=1"];
 * await exportVerl({ preset: "arpo", overrides }, job, { tools: { python: "calculator" } });
 * await mkdir(`${job}/results`);
 * await writeFile(`${job}/results/metrics-1.jsonl`, '{"step":1,"data":{"critic/score/mean":0.5}}\n');
 * const { steps, folder } = await readVerlRun(job, `${job}/run`);
 * assert.equal(steps, 1); // board(folder) shows it
 * ```
 */
export async function readVerlRun(job: string, folder: string): Promise<VerlRunRead> {
  checkArguments("read a run of verl", { job, folder }, { job: "path", folder: "path" });
  const files = await namesIfThere(job);
  if (!files.includes("config.yaml") || !files.includes("overrides.txt")) {
    throw new RangeError(
      `Cannot read a run of verl: ${job} must be a folder that was exported for it, got one without config.yaml and overrides.txt`,
    );
  }
  const results = join(job, "results");
  const { config } = await loadConfig({ files: [join(job, "config.yaml")] });
  const settings = rolloutConfig(rolloutOptions(config));
  // A run that went on writes the steps again that it had not saved.
  const lines = new Map<number, Record<string, number>>();
  for (const { step, data } of await linesOf(results, /^metrics.*\.jsonl$/, metricLine)) {
    const numbers = Object.entries(data).filter(
      (one): one is [string, number] => typeof one[1] === "number",
    );
    lines.set(step, { ...lines.get(step), ...Object.fromEntries(numbers) });
  }
  const scores = await scoresOf(join(results, "rollouts"));
  const steps = new Map<number, TreeRecord[]>();
  for (const record of await linesOf(join(results, "trees"), /\.jsonl$/, treeRecord)) {
    steps.set(record.step, [...(steps.get(record.step) ?? []), record]);
  }
  const run = await RunFolder.own(folder);
  let trees = 0;
  const measures = new Set<string>();
  try {
    await copyFile(join(job, "config.yaml"), join(run.path, "config.yaml"));
    for (const [step, records] of steps) {
      // What a later start grew for a step is what it trained on: those with scores, where any has.
      const scored = records.filter(({ uid }) => scores.has(uid));
      const used = (scored.length > 0 ? scored : records).sort((a, b) => a.index - b.index);
      for (const { measure } of used) measure.forEach((one) => measures.add(one));
      const made = used.map((one) => treeOfRecord(one, settings, scores.get(one.uid) ?? new Map()));
      trees += made.length;
      await run.save(join("rollouts", `${step}.jsonl`), (path) => saveTrees(path, made));
    }
    const text = [...lines].sort(([a], [b]) => a - b).map(([step, line]) => ({ step, ...line }));
    await run.write("metrics.jsonl", text.map((line) => `${JSON.stringify(line)}\n`).join(""));
  } finally {
    run.release();
  }
  return {
    ...{ folder: run.path, steps: lines.size, trees },
    entropyMeaning: `Entropy: ${[...measures].sort().join(" and ") || "not known yet"}.`,
  };
}

import { appendFile, mkdir, open, readFile, readdir, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { stageFile, writeFault } from "../../model/index.js";
import { makeFolder } from "./make-folder.js";

/** Which step a checkpoint holds is in its folder's name, as in the reference. */
const checkpointName = (step: number) => `global_step_${step}`;
const latestFile = "latest_checkpointed_iteration.txt";
const metricsFile = "metrics.jsonl";

type Line = { step: number } & Record<string, unknown>;

/** Writes a whole file in one step: after a crash it is the old one or the new one. */
export async function writeWhole(path: string, text: string): Promise<void> {
  await (await stageFile(path, (file) => file.writeFile(text))).commit();
}

/**
 * Everything a run leaves behind: its configuration, metrics, rollouts and checkpoints. Whatever is
 * saved is whole: a process killed at any moment loses at most what came after the last checkpoint.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp } from "node:fs/promises";
 * import { RunFolder } from "arpo-lab/run";
 *
 * const run = await RunFolder.open((await mkdtemp("/tmp/run-")) + "/toy");
 * await run.appendMetrics({ step: 1, "actor/pg_loss": 0.5 });
 * assert.deepEqual(await run.metrics(), [{ step: 1, "actor/pg_loss": 0.5 }]);
 * ```
 */
export class RunFolder {
  private constructor(readonly path: string) {}

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return { group: "Runs", text: this.path };
  }

  static async open(path: string): Promise<RunFolder> {
    try {
      await makeFolder(resolve(path, "rollouts"));
      await makeFolder(resolve(path, "validation"));
      // What a killed process was still writing was never part of the run.
      for (const name of await readdir(path)) {
        if (name.endsWith(".tmp")) await rm(join(path, name), { recursive: true, force: true });
      }
    } catch (error) {
      throw writeFault(error, `open the run folder ${path}`);
    }
    return new RunFolder(path);
  }

  /** A run that is there already; nothing of it is touched. */
  static async existing(path: string): Promise<RunFolder> {
    await readFile(join(path, metricsFile)).catch((error: NodeJS.ErrnoException) => {
      throw new Error(`Cannot read the run ${path}: ${metricsFile} must be there (${error.code})`);
    });
    return new RunFolder(path);
  }

  /** Writes a file of the run whole. */
  async write(name: string, text: string): Promise<void> {
    try {
      await writeWhole(join(this.path, name), text);
    } catch (error) {
      throw writeFault(error, `save ${name} in ${this.path}`);
    }
  }

  /** Lets something be written to a path of the run (or to an absolute one); its failure is explained. */
  async save(name: string, write: (path: string) => Promise<void>): Promise<void> {
    try {
      await write(resolve(this.path, name));
    } catch (error) {
      throw writeFault(error, `save ${name} in ${this.path}`);
    }
  }

  /** Adds a line to a JSONL file and waits until it is on disk. */
  append(name: string, line: Line): Promise<void> {
    return this.appendAll(name, [line]);
  }

  /** The same for several lines at once. */
  async appendAll(name: string, lines: readonly Line[]): Promise<void> {
    if (lines.length === 0) return;
    try {
      const path = join(this.path, name);
      await appendFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      const file = await open(path, "r+");
      await file.datasync();
      await file.close();
    } catch (error) {
      throw writeFault(error, `save ${name} in ${this.path}`);
    }
  }

  appendMetrics(line: Line): Promise<void> {
    return this.append(metricsFile, line);
  }

  /** Every whole line of a JSONL file of the run. */
  async lines(name: string): Promise<Line[]> {
    const text = await readFile(join(this.path, name), "utf8").catch(() => "");
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    return whole
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line);
  }

  metrics(): Promise<Line[]> {
    return this.lines(metricsFile);
  }

  /** Forgets what came after a step: a resumed run will do it again. */
  async rewind(step: number): Promise<void> {
    for (const name of [metricsFile, "timing.jsonl", "tool_calls.jsonl"]) {
      if (name === "tool_calls.jsonl" && (await this.lines(name)).length === 0) continue;
      const kept = (await this.lines(name)).filter((line) => line.step <= step);
      await this.write(name, kept.map((line) => `${JSON.stringify(line)}\n`).join(""));
    }
    for (const part of ["rollouts", "validation"]) {
      for (const name of await readdir(join(this.path, part))) {
        if (Number.parseInt(name, 10) > step) await rm(join(this.path, part, name));
      }
    }
  }

  /** Steps that have a checkpoint, in order. */
  async checkpoints(): Promise<number[]> {
    const names = await readdir(this.path);
    return names
      .flatMap((name) => {
        const step = /^global_step_(\d+)$/.exec(name)?.[1];
        return step === undefined ? [] : [Number(step)];
      })
      .sort((a, b) => a - b);
  }

  checkpointPath(step: number): string {
    return join(this.path, checkpointName(step));
  }

  /** The last whole checkpoint. */
  async latest(): Promise<number | undefined> {
    return (await this.checkpoints()).pop();
  }

  /** Writes down which checkpoint is the last, where the reference's tools look for it. */
  async noteLatest(step: number): Promise<void> {
    const path = join(this.path, latestFile);
    const noted = await readFile(path, "utf8").catch(() => "");
    if (noted !== String(step)) await this.write(latestFile, String(step));
  }

  /** Writes a checkpoint into a folder of its own that takes its name only once all is on disk. */
  async checkpoint(step: number, write: (path: string) => Promise<void>): Promise<void> {
    const final = this.checkpointPath(step);
    const temporary = `${final}.${process.pid}.tmp`;
    try {
      await rm(temporary, { recursive: true, force: true });
      await mkdir(temporary, { recursive: true });
      await write(temporary);
      await rm(final, { recursive: true, force: true });
      await rename(temporary, final);
      await writeWhole(join(this.path, latestFile), String(step));
    } catch (error) {
      await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
      throw writeFault(error, `save checkpoint ${checkpointName(step)} in ${this.path}`);
    }
  }

  /** Deletes all but the last so many checkpoints, and those to keep whatever their age. */
  async prune(keepLast: number, keep: readonly number[] = []): Promise<void> {
    const steps = await this.checkpoints();
    for (const step of steps.slice(0, Math.max(0, steps.length - keepLast))) {
      if (!keep.includes(step)) await rm(this.checkpointPath(step), { recursive: true });
    }
  }
}

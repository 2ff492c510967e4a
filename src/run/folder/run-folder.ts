import { mkdir, readFile, readFileSync, readdir, rm } from "#platform/files";
import { basename, dirname, join, resolve } from "#platform/path";
import { homePath } from "../../base/files/home-path.js";
import { namesIfThere, readIfThere } from "../../base/files/read-if-there.js";
import {
  appendDurably,
  makeFolder,
  publishFolder,
  removeFolder,
  tidyFolder,
  unfinished,
  writeDurably,
  writeFault,
} from "../../../common/files/durable.js";
import { logged } from "../../base/show/show-as.js";
import { treeSums } from "../../rollout/files/tree-sums.js";
import { lockFolder } from "./lock-folder.js";

/** How a kind of run names what it leaves behind. */
export interface FolderLayout {
  /** What stands before the step in the name of a checkpoint. */
  checkpoint: string;
  /** The log of every step, and logs that are there only where something was written to them. */
  log: string;
  otherLogs?: readonly string[];
  /** Folders with a file for each step. */
  parts?: readonly string[];
  /** The file that names the last checkpoint, where other programs look for one. */
  latest?: string;
}

/** What was found in the rollouts of every step that something was found in, a line for each finding. */
export const findingsLog = "findings.jsonl";

/** Reinforcement learning's, by the reference's names. */
const trainingLayout: FolderLayout = {
  checkpoint: "global_step_",
  log: "metrics.jsonl",
  otherLogs: ["timing.jsonl", "tool_calls.jsonl", findingsLog, treeSums],
  parts: ["rollouts", "validation"],
  latest: "latest_checkpointed_iteration.txt",
};

/** Fine-tuning's, by LLaMA-Factory's names. A line of the log counts its step from 0, a checkpoint from 1. */
export const tuningLayout: FolderLayout = { checkpoint: "checkpoint-", log: "trainer_log.jsonl" };

type Line = { step: number } & Record<string, unknown>;

interface RewindOptions {
  /** The checkpoint that the run continues from. Default: none, the log alone is read. */
  from?: string | undefined;
  /** The number of the first step. Default: 1. */
  first?: number;
  /** Told of lines that are lost. Default: none. */
  warn?: ((message: string) => void) | undefined;
}

/** A checkpoint's copy of the run's log. */
const copyOfLog = "log.jsonl";

/** Figures of a step in a table of steps: the word, and the name. */
const tableFigures = [
  ["score", "critic/score/mean"],
  ["entropy", "actor/entropy_loss"],
  ["clipped", "actor/pg_clipfrac"],
  ["tokens", "response_length/mean"],
] as const;
/** The same of fine-tuning. */
const tuningFigures = [
  ["loss", "loss"],
  ["held-out loss", "eval_loss"],
] as const;

/** So many steps are in a table. */
const mostSteps = 12;

const figure = (value: unknown): string => (typeof value === "number" ? value.toFixed(3) : "");

/** Some numbers, as many as one reads. */
const shortList = (numbers: readonly number[]): string =>
  numbers.length <= 6
    ? numbers.join(", ")
    : `${numbers.slice(0, 3).join(", ")} to ${numbers.at(-1)} (${numbers.length})`;

/**
 * Everything a run leaves behind: its configuration, metrics, rollouts and checkpoints. Whatever is
 * saved is whole: a process killed at any moment, or a power cut, loses at most what came after the last checkpoint.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { RunFolder } from "arpo-lab/run";
 *
 * const run = await RunFolder.open((await mkdtemp(join(tmpdir(), "run-"))) + "/toy");
 * await run.appendMetrics({ step: 1, "actor/pg_loss": 0.5 });
 * assert.deepEqual(await run.metrics(), [{ step: 1, "actor/pg_loss": 0.5 }]);
 * ```
 */
export class RunFolder {
  #release: () => void = () => undefined;

  private constructor(
    readonly path: string,
    readonly layout: FolderLayout,
  ) {}

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return { group: "Runs", text: this.path };
  }

  /** A table of the last steps that the folder has now. */
  toString(): string {
    const steps = this.#stepsNow();
    const count = `${steps.length} ${steps.length === 1 ? "step" : "steps"}`;
    const figures = [...tableFigures, ...tuningFigures].filter(([, name]) =>
      steps.some((line) => typeof line[name] === "number"),
    );
    const rows = steps
      .slice(-mostSteps)
      .map((line) => [line.step, ...figures.map(([, name]) => figure(line[name]))].join("\t"));
    const head = ["step", ...figures.map(([word]) => word)].join("\t");
    const table = rows.length === 0 ? [] : [head, ...rows];
    const left = steps.length > mostSteps ? `, the last ${mostSteps} of them here` : "";
    return [`run in ${this.path}: ${count}${left}`, ...table].join("\n");
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return logged(this);
  }

  /** The whole lines of the log, as far as it can be read. */
  #stepsNow(): Line[] {
    try {
      const text = readFileSync(join(this.path, this.layout.log), "utf8");
      const lines = text.slice(0, text.lastIndexOf("\n")).split("\n");
      return lines.map((line) => JSON.parse(line) as Line);
    } catch {
      return [];
    }
  }

  /**
   * @param given the run's folder
   * @param layout how its files are named
   */
  static async open(given: string, layout = trainingLayout): Promise<RunFolder> {
    const path = homePath(given);
    try {
      await makeFolder(resolve(path));
      for (const part of layout.parts ?? []) await makeFolder(resolve(path, part));
      // What a killed process was still writing was never part of the run.
      for (const folder of [path, ...(layout.parts ?? []).map((part) => join(path, part))]) {
        await tidyFolder(folder);
      }
    } catch (error) {
      throw writeFault(error, `open the run folder ${path}`);
    }
    return new RunFolder(path, layout);
  }

  /**
   * The same for this process alone, until `release`. A second one that would write it is refused.
   * @param given the run's folder
   * @param layout how its files are named
   */
  static async own(given: string, layout = trainingLayout): Promise<RunFolder> {
    const path = homePath(given);
    await makeFolder(path).catch((error: unknown) => {
      throw writeFault(error, `open the run folder ${path}`);
    });
    const release = await lockFolder(path);
    try {
      const run = await RunFolder.open(path, layout);
      run.#release = release;
      return run;
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * A run that is there already; nothing of it is touched.
   * @param given the run's folder
   * @param layout how its files are named
   */
  static async existing(given: string, layout = trainingLayout): Promise<RunFolder> {
    const path = homePath(given);
    await readFile(join(path, layout.log)).catch((error: NodeJS.ErrnoException) => {
      throw new Error(`Cannot read the run ${path}: ${layout.log} must be there (${error.code})`, {
        cause: error,
      });
    });
    return new RunFolder(path, layout);
  }

  /** Lets other processes write the folder. */
  release(): void {
    this.#release();
  }

  /**
   * Writes a file of the run whole.
   * @param name the file's name in the folder
   * @param text the whole content that the file gets
   */
  async write(name: string, text: string): Promise<void> {
    try {
      await writeDurably(join(this.path, name), text);
    } catch (error) {
      throw writeFault(error, `save ${name} in ${this.path}`);
    }
  }

  /**
   * Lets something be written to a path of the run (or to an absolute one); its failure is explained.
   * @param name the file's name in the folder, or an absolute path
   * @param write writes to the path that it is given
   */
  async save(name: string, write: (path: string) => Promise<void>): Promise<void> {
    try {
      await write(resolve(this.path, name));
    } catch (error) {
      throw writeFault(error, `save ${name} in ${this.path}`);
    }
  }

  /**
   * Adds a line to a JSONL file and waits until it is on disk.
   * @param name the file's name in the folder
   * @param line the record to add
   */
  append(name: string, line: Line): Promise<void> {
    return this.appendAll(name, [line]);
  }

  /**
   * The same for several lines at once.
   * @param name the file's name in the folder
   * @param lines the records to add
   */
  async appendAll(name: string, lines: readonly Line[]): Promise<void> {
    if (lines.length === 0) return;
    try {
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
      await appendDurably(join(this.path, name), text);
    } catch (error) {
      throw writeFault(error, `save ${name} in ${this.path}`);
    }
  }

  /** @param line the step's metrics */
  appendMetrics(line: Line): Promise<void> {
    return this.append(this.layout.log, line);
  }

  /**
   * Every whole line of a JSONL file of the run, none where it has no such file.
   * @param name the file's name in the folder
   */
  async lines(name: string): Promise<Line[]> {
    const text = await readIfThere(join(this.path, name)).catch((error: Error) => {
      throw new Error(`Cannot read ${name} in ${this.path}: ${error.message}`, { cause: error });
    });
    if (text === undefined) return [];
    const whole = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
    return whole.flatMap((line, i) => {
      if (line === "") return [];
      try {
        return [JSON.parse(line) as Line];
      } catch {
        throw new SyntaxError(
          `Cannot read ${name} in ${this.path}: line ${i + 1} must be JSON, got ${line.slice(0, 60)}`,
        );
      }
    });
  }

  metrics(): Promise<Line[]> {
    return this.lines(this.layout.log);
  }

  /**
   * Forgets what came after a step, by the numbers its lines have: a resumed run will do it again. Figures of
   * earlier steps that are gone from the log are taken from the checkpoint's copy of it, and told.
   * @param step the last step to keep
   */
  async rewind(step: number, { from, first = 1, warn }: RewindOptions = {}): Promise<void> {
    const { log, otherLogs = [], parts = [] } = this.layout;
    for (const name of [log, ...otherLogs]) {
      const { lines, broken } = await this.#wholeLines(join(this.path, name));
      if (name !== log && lines.length === 0 && broken === 0) continue;
      let kept = lines.filter((line) => line.step <= step);
      if (broken > 0) warn?.(`${name} of ${this.path}: ${broken} of its lines were no JSON`);
      if (name === log) kept = await this.#rebuilt(kept, step, first, from, warn);
      await this.write(name, kept.map((line) => `${JSON.stringify(line)}\n`).join(""));
    }
    for (const part of parts) {
      for (const name of await readdir(join(this.path, part))) {
        if (Number.parseInt(name, 10) > step) await rm(join(this.path, part, name));
      }
    }
  }

  /** The lines of the log up to a step; where some are gone or changed, those that the checkpoint has. */
  async #rebuilt(
    kept: Line[],
    step: number,
    first: number,
    from: string | undefined,
    warn: ((message: string) => void) | undefined,
  ): Promise<Line[]> {
    const { log } = this.layout;
    const there = new Set(kept.map((line) => line.step));
    const count = step - first + 1;
    const missing = Array.from({ length: Math.max(0, count) }, (_, i) => first + i).filter(
      (one) => !there.has(one),
    );
    const copied = from === undefined ? [] : (await this.#wholeLines(join(from, copyOfLog))).lines;
    const same = JSON.stringify(copied) === JSON.stringify(kept);
    if (copied.length > 0 && !same && copied.at(-1)!.step <= step) {
      warn?.(
        `${log} of ${this.path}: ${missing.length} of ${count} steps before the checkpoint are gone and others may have changed; all are taken from the checkpoint's copy`,
      );
      return copied;
    }
    if (missing.length > 0) {
      warn?.(
        `${log} of ${this.path}: steps ${shortList(missing)} before the checkpoint are gone, and the checkpoint has no copy of them`,
      );
    }
    return kept;
  }

  /** The lines of a file that are whole, and how many are not. */
  async #wholeLines(path: string): Promise<{ lines: Line[]; broken: number }> {
    const text =
      (await readIfThere(path).catch((error: Error) => {
        throw new Error(`Cannot read ${basename(path)} in ${dirname(path)}: ${error.message}`, {
          cause: error,
        });
      })) ?? "";
    let broken = 0;
    const lines = text
      .slice(0, text.lastIndexOf("\n") + 1)
      .split("\n")
      .flatMap((line) => {
        if (line === "") return [];
        try {
          const value = JSON.parse(line) as Line | null;
          if (Number.isInteger(value?.step)) return [value!];
        } catch {
          // Counted below, and told by whoever asked.
        }
        broken++;
        return [];
      });
    return { lines, broken };
  }

  /** Steps that have a checkpoint, in order. */
  async checkpoints(): Promise<number[]> {
    const { checkpoint } = this.layout;
    return (await namesIfThere(this.path))
      .filter((name) => name.startsWith(checkpoint))
      .map((name) => name.slice(checkpoint.length))
      .filter((step) => /^\d+$/.test(step))
      .map(Number)
      .sort((a, b) => a - b);
  }

  #checkpointName(step: number): string {
    return `${this.layout.checkpoint}${step}`;
  }

  /** @param step the training step that names the checkpoint */
  checkpointPath(step: number): string {
    return join(this.path, this.#checkpointName(step));
  }

  /** The last whole checkpoint. */
  async latest(): Promise<number | undefined> {
    return (await this.checkpoints()).pop();
  }

  /**
   * Writes down which checkpoint is the last, where the reference's tools look for it.
   * @param step the training step of that checkpoint
   */
  async noteLatest(step: number): Promise<void> {
    const { latest } = this.layout;
    if (latest === undefined) return;
    const noted = await readIfThere(join(this.path, latest));
    if (noted !== String(step)) await this.write(latest, String(step));
  }

  /**
   * Writes a checkpoint into a folder of its own that takes its name only once all is on disk. When this is done, the
   * checkpoint outlives a power cut, and those before it may go.
   * @param step the training step that names the checkpoint
   * @param write writes into the folder that it is given
   */
  async checkpoint(step: number, write: (path: string) => Promise<void>): Promise<void> {
    const final = this.checkpointPath(step);
    const temporary = `${final}${unfinished}`;
    try {
      await rm(temporary, { recursive: true, force: true });
      await mkdir(temporary, { recursive: true });
      const log = await readIfThere(join(this.path, this.layout.log));
      if (log !== undefined) await writeDurably(join(temporary, copyOfLog), log);
      await write(temporary);
      await publishFolder(temporary, final);
      const { latest } = this.layout;
      if (latest !== undefined) await writeDurably(join(this.path, latest), String(step));
    } catch (error) {
      await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
      const name = this.#checkpointName(step).replace(/^(?!checkpoint)/, "checkpoint ");
      throw writeFault(error, `save ${name} in ${this.path}`);
    }
  }

  /**
   * Deletes the checkpoints after a step.
   * @param step the last step to keep
   */
  async dropAfter(step: number): Promise<void> {
    for (const late of await this.checkpoints()) {
      if (late > step) await removeFolder(this.checkpointPath(late));
    }
  }

  /**
   * Deletes all but the last so many checkpoints, and those to keep whatever their age.
   * @param keepLast how many checkpoints stay
   * @param keep steps whose checkpoints stay too
   */
  async prune(keepLast: number, keep: readonly number[] = []): Promise<void> {
    const steps = await this.checkpoints();
    for (const step of steps.slice(0, Math.max(0, steps.length - keepLast))) {
      if (!keep.includes(step)) await removeFolder(this.checkpointPath(step));
    }
  }
}

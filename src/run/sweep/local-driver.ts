import { environment } from "#platform/environment";
import { mkdir, open } from "#platform/files";
import { system } from "#platform/machine";
import { packagePath } from "#platform/package-path";
import { dirname } from "#platform/path";
import { ownProgram, spawn } from "#platform/programs";
import { cores } from "#platform/cores";
import { readIfThere } from "../../files/read-if-there.js";
import { pause } from "../../http/pause.js";
import { makeFolder } from "../folder/make-folder.js";
import { refuseTaken } from "../folder/lock-folder.js";
import { writeWhole } from "../folder/run-folder.js";
import { runLine } from "../loggers/json-lines.js";
import type { RunDriver, RunHooks } from "./driver.js";
import type { PlannedRun } from "./plan.js";

/** Seconds in which the process of a sweep that was killed is to notice it and let its folder go. */
const grace = 60;

/** Waits until no process writes the folder. */
async function folderFree(folder: string, signal: AbortSignal): Promise<void> {
  for (let waited = 0; ; waited++) {
    try {
      return await refuseTaken(folder);
    } catch (error) {
      if (waited >= grace) throw error;
      await pause(1000, signal);
    }
  }
}

/** Where a run here tells everything but its figures. */
export const logOf = (folder: string): string => `${folder}.log`;

/** The last thing that a log says. */
async function lastWords(log: string): Promise<string> {
  const lines = ((await readIfThere(log)) ?? "").trimEnd().split("\n");
  return lines.findLast((line) => !line.startsWith("note: ")) ?? "";
}

async function runHere(run: PlannedRun, hooks: RunHooks, threads: number): Promise<void> {
  const { tell, signal } = hooks;
  await makeFolder(dirname(run.folder));
  await mkdir(run.folder, { recursive: true });
  await folderFree(run.folder, signal);
  signal.throwIfAborted();
  const { stringify } = await import("yaml");
  const file = `${run.folder}.yaml`;
  await writeWhole(file, stringify(run.config));
  const log = await open(logOf(run.folder), "a");
  try {
    const args = ["train", "--config", file, "--out", run.folder, "--emit", "-"];
    const child = spawn(ownProgram, [packagePath("bin/arpo-lab.mjs"), ...args], {
      env: { ...environment, ARPO_LAB_THREADS: String(threads) },
      // It ends when the line to this process breaks; a Ctrl-C of the terminal is for this process alone.
      stdio: ["ignore", "pipe", log.fd, "ipc"],
      detached: system !== "win32",
    });
    const stop = () => void child.kill("SIGTERM");
    signal.addEventListener("abort", stop);
    let rest = "";
    child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        const said = runLine(line);
        if (said) tell(said);
      }
    });
    const why = await new Promise<string | undefined>((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("close", (code, by) =>
        resolve(code === 0 ? undefined : by === null ? `status ${code}` : `ended by ${by}`),
      );
    });
    signal.removeEventListener("abort", stop);
    signal.throwIfAborted();
    if (why !== undefined) {
      const words = await lastWords(logOf(run.folder));
      throw new Error(
        words === "" ? `Cannot train: the process must end by itself, got ${why}` : words,
      );
    }
  } finally {
    await log.close();
  }
}

/** Runs in processes of this machine, which divide its threads. */
export function localDriver(processes: number | undefined): RunDriver {
  const asked = Number(environment.ARPO_LAB_THREADS);
  const threads = asked >= 1 ? asked : cores();
  const atOnce = processes ?? threads;
  const each = Math.max(1, Math.floor(threads / atOnce));
  return { atOnce, run: (run, hooks) => runHere(run, hooks, each) };
}

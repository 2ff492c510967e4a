import { addressOf } from "#platform/addresses";
import { cores, environment, ownProgram, spawn, system } from "#platform/process";
import { open } from "#platform/files";
import { packagePath } from "#platform/modules";
import { join } from "#platform/path";
import { makeFolder, writeDurably } from "../../../common/files/durable.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { defined } from "../../../common/options/defined.js";
import { Semaphore } from "../../base/concurrency/semaphore.js";
import { homePath } from "../../base/files/home-path.js";
import { readIfThere } from "../../base/files/read-if-there.js";
import { pause } from "../../base/http/pause.js";
import { watchAs } from "../../base/show/show-as.js";
import { loadConfig } from "../config/load.js";
import { lockFolder, refuseTaken } from "../folder/lock-folder.js";
import { RunFolder } from "../folder/run-folder.js";
import { runLine, type RunLine } from "../loggers/json-lines.js";
import { changedSettings, type PlannedRun, planOf, type RunDriver, type RunHooks } from "./plan.js";
import { type SweepCluster, type SweepOptions, sweepRules } from "./sweep-options.js";
import { sweepPace, type SweepRun, SweepRuns, sweepStatus } from "./sweep-runs.js";

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
const logOf = (folder: string): string => `${folder}.log`;

/** The last thing that a log says. */
async function lastWords(log: string): Promise<string> {
  const lines = ((await readIfThere(log)) ?? "").trimEnd().split("\n");
  return lines.findLast((line) => !line.startsWith("note: ")) ?? "";
}

async function runHere(run: PlannedRun, hooks: RunHooks, threads: number): Promise<void> {
  const { tell, signal } = hooks;
  await makeFolder(run.folder);
  await folderFree(run.folder, signal);
  const { stringify } = await import("yaml");
  const file = `${run.folder}.yaml`;
  await writeDurably(file, stringify(run.config));
  const log = await open(logOf(run.folder), "a");
  try {
    // Here, as nothing is waited for between this and the listener: a stop in between would be lost.
    signal.throwIfAborted();
    const args = ["train", "--config", file, "--out", run.folder, "--emit", "-"];
    const child = spawn(ownProgram, [packagePath("apps/cli/bin/arpo-lab.mjs"), ...args], {
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
function localDriver(processes: number | undefined): RunDriver {
  const asked = Number(environment.ARPO_LAB_THREADS);
  const threads = asked >= 1 ? asked : cores();
  const atOnce = processes ?? threads;
  const each = Math.max(1, Math.floor(threads / atOnce));
  return { atOnce, run: (run, hooks) => runHere(run, hooks, each) };
}

const keptFile = "sweep.json";

/** What is kept of a run between two calls. */
interface Kept {
  /** Of its settings. */
  print: string;
  state?: "done" | "failed";
  /** The job that it was sent as. */
  job?: string;
}

/** What a sweep's folder says of its runs, by their ids. */
async function keptRuns(folder: string, plan: readonly PlannedRun[]): Promise<Map<string, Kept>> {
  const text = await readIfThere(join(folder, keptFile));
  const kept = new Map(
    Object.entries(text === undefined ? {} : (JSON.parse(text) as Record<string, Kept>)),
  );
  for (const run of plan) {
    const { id, print } = run;
    const before = kept.get(id);
    if (!before || before.print === print) continue;
    const changed = await changedSince(run);
    if (changed?.length === 0) continue;
    const others = changed ? `others in ${changed.slice(0, 3).join(", ")}` : "others";
    throw new RangeError(
      `Cannot sweep: ${id} of ${folder} must have the settings that it was begun with, got ${others}; take another folder, or delete ${join(folder, id)} and its entry in ${keptFile}`,
    );
  }
  return kept;
}

/**
 * What a run is now told otherwise than when it was begun, by the file of its settings: what tells settings apart was
 * another thing in older versions. Undefined where no such file can be read.
 */
async function changedSince({ folder, config }: PlannedRun): Promise<string[] | undefined> {
  for (const file of [`${folder}.yaml`, join(folder, "config.yaml")]) {
    const text = await readIfThere(file);
    if (text === undefined) continue;
    const { parse } = await import("yaml");
    // Its paths are written as they were resolved.
    const read = async () => loadConfig({ values: parse(text) as Record<string, unknown> });
    const before = await read().catch(() => undefined);
    return before && changedSettings(before.config, config);
  }
  return undefined;
}

/** The figures of every step that a run's folder has, none where it has not begun. */
async function linesIn(folder: string): Promise<NonNullable<SweepRun["lines"]>> {
  if ((await readIfThere(join(folder, "metrics.jsonl"))) === undefined) return [];
  return (await (await RunFolder.existing(folder)).metrics()) as NonNullable<SweepRun["lines"]>;
}

function driverOf({ ray, processes, folder }: SweepOptions): Promise<RunDriver> | RunDriver {
  if (ray === undefined) return localDriver(processes);
  return rayDriver(typeof ray === "string" ? { address: ray } : ray, processes, folder);
}

/** A cluster's code needs Node and is read only where a cluster is named: a page has none. */
async function rayDriver(cluster: SweepCluster, atOnce: number | undefined, folder: string) {
  const file = addressOf(packagePath("dist/src/interop/job/ray-driver.js"));
  const { rayDriver } = (await import(file)) as {
    rayDriver: (cluster: SweepCluster, options: object) => Promise<RunDriver>;
  };
  return rayDriver(cluster, { folder, ...defined({ atOnce }) });
}

/** What a run's line changes. */
function heard(run: SweepRun, line: RunLine): void {
  if (line.run === "begin") {
    run.step = line.step;
    // What came behind the checkpoint is done again.
    run.lines = run.lines?.filter(({ step }) => step <= line.step) ?? [];
  }
  if (line.run !== "step") return;
  run.step = line.step;
  run.lines = [...(run.lines ?? []), { ...line.metrics, step: line.step }];
  run.last = { ...run.last, ...line.metrics };
  run.progress = line.metrics["training/progress"] ?? run.progress;
}

/**
 * Trains every setting with every seed, so many runs at a time: in processes of this machine, or on a Ray
 * cluster (`ray`). A sweep that was stopped or killed goes on with the same call: what is done is not
 * repeated, what was under way resumes from its checkpoint. A run that fails stops no other one.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp, rm } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { sweep } from "arpo-lab/run";
 *
 * const folder = await mkdtemp(join(tmpdir(), "arpo-"));
 * const runs = await sweep({
 *   folder,
 *   seeds: [1],
 *   // Usually: arms: { fresh: { preset: "grpo" }, trees: { preset: "arpo" } }, preset: "tiny".
 *   arms: { wrong: ["data.train_files=no-such-file.jsonl"] },
 * });
 * assert.deepEqual(runs.folders, { wrong: [] });
 * assert.match(String(runs.failed[0].error), /no-such-file\.jsonl/);
 * await rm(folder, { recursive: true });
 * ```
 */
export async function sweep(options: SweepOptions): Promise<SweepRuns> {
  checkOptions("sweep", options, sweepRules);
  const folder = homePath(options.folder);
  const plan = await planOf(options);
  const driver = await driverOf(options);
  await makeFolder(folder);
  const release = await lockFolder(folder);
  try {
    return await driveAll(folder, plan, driver, options);
  } finally {
    release();
  }
}

async function driveAll(
  folder: string,
  plan: readonly PlannedRun[],
  driver: RunDriver,
  { seeds, signal: given, onChange, live = true }: SweepOptions,
): Promise<SweepRuns> {
  const kept = await keptRuns(folder, plan);
  let saving: Promise<void> = Promise.resolve();
  const keep = (run: PlannedRun, change: Omit<Kept, "print">): Promise<void> => {
    const { print } = run;
    kept.set(run.id, { ...kept.get(run.id), ...change, print });
    const text = `${JSON.stringify(Object.fromEntries(kept), null, 1)}\n`;
    return (saving = saving.then(() => writeDurably(join(folder, keptFile), text)));
  };
  const runs = plan.map(({ arm, seed, folder: own }): SweepRun => ({
    ...{ arm, seed, folder: own, state: "waiting", step: 0, progress: 0, last: {} },
    log: logOf(own),
  }));
  const result = new SweepRuns(folder, runs);
  const enough = new AbortController();
  const stop = () => enough.abort();
  const shown = live ? watchAs("Work", { after: "the steps under way", stop }) : undefined;
  const signal = AbortSignal.any([enough.signal, given].flatMap((one) => one ?? []));
  const pace = sweepPace();
  const changed = () => {
    if (shown) {
      const { line, ...more } = sweepStatus(runs, pace(runs));
      shown.tell?.(line, more);
    }
    onChange?.(result);
  };
  const finish = async (run: SweepRun, planned: PlannedRun) => {
    run.lines = await linesIn(planned.folder);
    // Those of its last step, and of the last validation.
    run.last = Object.assign({}, ...run.lines) as SweepRun["last"];
    run.step = run.last["training/global_step"] ?? 0;
    run.progress = 1;
    run.state = "done";
  };
  const drive = async (planned: PlannedRun, run: SweepRun): Promise<void> => {
    if (signal.aborted) {
      run.state = "stopped";
      return;
    }
    run.state = "running";
    run.lines = await linesIn(planned.folder);
    changed();
    try {
      await driver.run(planned, {
        signal,
        job: kept.get(planned.id)?.job,
        keepJob: (job) => keep(planned, { job }),
        tell: (line) => {
          heard(run, line);
          changed();
        },
      });
      await finish(run, planned);
      await keep(planned, { state: "done" });
    } catch (error) {
      run.state = signal.aborted ? "stopped" : "failed";
      if (signal.aborted) return;
      run.error = error instanceof Error ? error.message : String(error);
      await keep(planned, { state: "failed" });
    } finally {
      changed();
    }
  };
  try {
    for (const [i, planned] of plan.entries()) {
      if (kept.get(planned.id)?.state === "done") await finish(runs[i]!, planned);
    }
    await Promise.all(plan.filter((p) => !kept.has(p.id)).map((p) => keep(p, {})));
    changed();
    const turns = new Semaphore(driver.atOnce);
    // Seed by seed: a sweep that is stopped has equally many seeds of every arm.
    const order = seeds.flatMap((seed) => [...plan.keys()].filter((i) => plan[i]!.seed === seed));
    await Promise.all(
      order.map((i) =>
        runs[i]!.state === "done" ? undefined : turns.run(() => drive(plan[i]!, runs[i]!)),
      ),
    );
  } finally {
    shown?.done();
  }
  given?.throwIfAborted();
  return result;
}

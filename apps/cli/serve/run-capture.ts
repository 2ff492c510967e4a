import { defined } from "../../../common/options/defined.js";
import { capture, type CaptureServer } from "../../../src/interop/capture/capture-server.js";
import type { CaptureTask } from "../../../src/interop/capture/captured-call.js";
import { Semaphore } from "../../../src/base/concurrency/semaphore.js";
import { modelFolder } from "../../../src/model/files/model-folder.js";
import { Policy } from "../../../src/policy/policies.js";
import { loadReward } from "../../../src/reward/load-reward.js";
import { isGroupReward, type RewardFunction } from "../../../src/reward/reward-function.js";
import { saveTrees } from "../../../src/rollout/files/tree-files.js";
import type { RolloutTree } from "../../../src/rollout/rollout-tree.js";
import { aside, say } from "../terminal/say.js";
import { spawn } from "node:child_process";
import { isRecord } from "../../../common/options/is-record.js";

export interface ProgramRun {
  env: Readonly<Record<string, string>>;
  signal: AbortSignal;
  timeoutMs: number;
}

/** Runs a program until it ends, and says what went wrong with it, if anything did. */
export async function runProgram(
  [command, ...args]: readonly string[],
  { env, signal, timeoutMs }: ProgramRun,
): Promise<string | undefined> {
  const child = spawn(command!, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "inherit", "inherit"],
    // A group of its own, so that what it started ends with it.
    detached: process.platform !== "win32",
  });
  let reason: string | undefined;
  const end = (why: string) => {
    reason ??= why;
    try {
      if (process.platform === "win32") child.kill("SIGKILL");
      else process.kill(-child.pid!, "SIGKILL");
    } catch {
      // It has ended already.
    }
  };
  const timer = setTimeout(() => end(`it took longer than ${timeoutMs / 1000} s`), timeoutMs);
  const stopped = () => end("it was stopped");
  signal.addEventListener("abort", stopped, { once: true });
  try {
    return await new Promise<string | undefined>((resolve) => {
      child.once("error", (error) => resolve(`it could not be started: ${error.message}`));
      child.once("exit", (status, by) => {
        const failed = status === 0 ? undefined : `it ended with ${by ?? `status ${status}`}`;
        resolve(reason ?? failed);
      });
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stopped);
  }
}

export interface CaptureCommandOptions {
  out: string;
  runs: number;
  atOnce: number;
  task?: string;
  reward?: string;
  temperature?: number;
  timeout: number;
  maxCalls: number;
  seed: number;
  port: number;
  host: string;
  adminKeyEnv?: string;
  quiet?: boolean;
}

/** How long running requests may take to finish after Ctrl-C. */
const GRACE_MS = 10_000;

function taskOf(text: string | undefined): CaptureTask | undefined {
  if (text === undefined) return undefined;
  try {
    const task: unknown = JSON.parse(text);
    if (isRecord(task)) return task;
  } catch {
    // What it is not is said below.
  }
  throw new TypeError(`Cannot capture: --task must be a JSON object, got ${text.slice(0, 60)}`);
}

async function rewardOf(path: string | undefined): Promise<RewardFunction | undefined> {
  if (path === undefined) return undefined;
  const reward = await loadReward(path);
  if (isGroupReward(reward)) {
    throw new TypeError(
      `Cannot capture: --reward must be a function of one trajectory, got a groupReward in ${path}; use score(trees, reward) on the file`,
    );
  }
  return reward;
}

/** Captures a program's runs, or whatever asks until it is told to stop, and saves the trees. */
export async function runCapture(
  folder: string,
  program: readonly string[],
  options: CaptureCommandOptions,
): Promise<void> {
  const task = taskOf(options.task);
  const reward = await rewardOf(options.reward);
  const { host, port, seed, maxCalls, temperature, adminKeyEnv, quiet } = options;
  const policy = await Policy.load(modelFolder(folder));
  try {
    const server = await capture(policy, {
      ...{ host, port, seed, maxCalls },
      ...defined({ temperature, adminKeyEnv }),
      ...(quiet ? {} : { log: aside }),
      maxSessions: Math.max(1024, options.runs),
    });
    try {
      const stopped = new AbortController();
      const stop = () => stopped.abort();
      for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, stop);
      say(`${policy.name} is captured at ${server.url}/v1.`);
      if (program.length > 0) {
        await runAll(server, program, { ...options, signal: stopped.signal, task, reward });
      } else {
        say(`POST ${server.url}/sessions gives a key; Ctrl-C stops it and writes ${options.out}.`);
        if (!stopped.signal.aborted) {
          await new Promise((done) => stopped.signal.addEventListener("abort", done));
        }
      }
      await write(server.trees(), options.out, server.retries);
    } finally {
      await server.stop(GRACE_MS);
    }
  } finally {
    policy.dispose();
  }
}

interface Runs extends Omit<CaptureCommandOptions, "task" | "reward"> {
  signal: AbortSignal;
  task: CaptureTask | undefined;
  reward: RewardFunction | undefined;
}

async function runAll(server: CaptureServer, program: readonly string[], runs: Runs) {
  const { task, reward, signal } = runs;
  const semaphore = new Semaphore(runs.atOnce);
  const one = async (number: number) => {
    if (signal.aborted) return;
    const session = server.session({ ...defined({ task }), group: task?.id ?? "program" });
    const failed = await runProgram(program, {
      env: {
        ...session.env,
        ARPO_LAB_SESSION_URL: `${server.url}/sessions/${session.id}`,
        ...(task ? { ARPO_LAB_TASK: JSON.stringify(task) } : {}),
      },
      signal,
      timeoutMs: runs.timeout * 1000,
    });
    if (failed !== undefined) aside(`Run ${number + 1} of ${program[0]!}: ${failed}.`);
    const zero =
      failed === undefined ? undefined : { score: 0, reason: `the program failed: ${failed}` };
    await server.end(session, zero ?? reward);
  };
  await Promise.all(
    Array.from({ length: runs.runs }, (_, number) => semaphore.run(() => one(number), signal)),
  ).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

async function write(trees: readonly RolloutTree[], out: string, dropped: number): Promise<void> {
  const rows = trees.flatMap(({ trajectories }) => trajectories);
  if (rows.length === 0) {
    aside("Nothing was captured: the program must ask at OPENAI_BASE_URL with OPENAI_API_KEY.");
    return;
  }
  await saveTrees(out, trees);
  const tokens = rows.reduce((sum, row) => sum + row.lossMask.reduce((n, own) => n + own, 0), 0);
  const scores = rows.flatMap(({ outcome }) => outcome?.score ?? []);
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  const worth = scores.length === 0 ? "no rewards" : `mean reward ${mean.toFixed(3)}`;
  const several = (count: number, one: string, many: string) =>
    `${count} ${count === 1 ? one : many}`;
  say(
    `${out}: ${several(trees.length, "tree", "trees")}, ${several(rows.length, "trajectory", "trajectories")}, ${tokens} sampled tokens, ${worth}.`,
  );
  if (dropped > 0) {
    say(
      `${several(dropped, "answer was", "answers were")} dropped: the client asked the same again.`,
    );
  }
}

import { AsyncLocalStorage } from "node:async_hooks";
import { setMaxListeners } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";

export { spawn, spawnSync, type ChildProcess } from "node:child_process";
export { homedir, hostname } from "node:os";

/** The variables of the environment, as they are when they are read. */
export const environment: Readonly<Record<string, string | undefined>> = process.env;

/** `linux`, `darwin`, `win32`, or `tab`. */
export const system: string = process.platform;

/** The number of this process, for names of files that no other writes. */
export const processId: number = process.pid;

/** Whether a process of this machine still runs. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of somebody else's may not be asked, but it is there.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** What this machine computes with, in words, and how many of them. */
export function processors(): string {
  const found = cpus();
  return `${found[0]?.model ?? process.arch} x${found.length}`;
}

/** What the processor is called: `x64`, `arm64`, or `wasm32`. */
export const architecture: string = process.arch;

/** Whether this is the user who may do anything. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** What runs all this, and which of its versions. */
export const runtime = { name: "Node", version: process.versions.node };

/** Where relative paths begin. */
export function currentFolder(): string {
  return process.cwd();
}

/** `/proc` counts in hundredths of a second. */
const ticks = 100;

/** Parent and CPU seconds of a process by `/proc`, with those of its children that have ended. */
function processTimes(pid: string): { parent: number; own: number; ended: number } | undefined {
  try {
    // The name stands in brackets and may hold anything.
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)!.split(" ");
    const [parent, user, system, endedUser, endedSystem] = [1, 11, 12, 13, 14].map((i) =>
      Number(fields[i]),
    ) as [number, number, number, number, number];
    return { parent, own: (user + system) / ticks, ended: (endedUser + endedSystem) / ticks };
  } catch {
    return undefined;
  }
}

/** CPU seconds of the processes that this one has started, by what Linux tells; elsewhere unknown and 0. */
function childSeconds(): number {
  const own = processTimes("self");
  if (own === undefined) return 0;
  const seconds = new Map<number, number>();
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const times = processTimes(name);
    if (times === undefined) continue;
    const pid = Number(name);
    seconds.set(pid, times.own + times.ended);
    children.set(times.parent, [...(children.get(times.parent) ?? []), pid]);
  }
  let sum = own.ended;
  const open = [...(children.get(process.pid) ?? [])];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    sum += seconds.get(pid)!;
    open.push(...(children.get(pid) ?? []));
  }
  return sum;
}

/** CPU seconds that this process alone has used, all threads together. Undefined where nobody knows. */
export function ownCpuSeconds(): number | undefined {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/**
 * CPU seconds that this process has used, and on Linux those of every process that it started: a tool's
 * work counts where it is done. Undefined where nobody knows.
 */
export function cpuSeconds(): number | undefined {
  return ownCpuSeconds()! + childSeconds();
}

/** How many threads can work at one time on the same memory. */
export function cores(): number {
  return availableParallelism();
}

/** Whether threads can work on the same memory at all. */
export function sharesMemory(): boolean {
  return true;
}

/** A value that code knows which was called with it, also after it has waited. */
export interface Context<T> {
  run<R>(value: T, call: () => R): R;
  getStore(): T | undefined;
}

export function makeContext<T>(): Context<T> {
  return new AsyncLocalStorage<T>();
}

/** The next turn of the event loop: what has arrived meanwhile is served first. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Calls when the thread is free. */
export function soon(call: () => void): void {
  setImmediate(call);
}

/** A timer that keeps nothing alive. */
export function later(call: () => void, ms: number): ReturnType<typeof setTimeout> {
  return setTimeout(call, ms).unref();
}

/** Waits; a signal ends it with an `AbortError`. */
export async function wait(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal });
}

/** Many will listen to this signal, and that is no leak. */
export function expectManyListeners(signal: AbortSignal): void {
  setMaxListeners(0, signal);
}

/** The program that this is. */
export const ownProgram: string = process.execPath;

/** Whether that program knows a flag. */
export function knowsFlag(flag: string): boolean {
  return process.allowedNodeEnvironmentFlags.has(flag);
}

/** Ends a program and everything that it started, where it leads a group of its own. */
export function endGroup(pid: number): void {
  process.kill(-pid, "SIGKILL");
}

/** Asks whoever sits at the terminal. */
export async function askTerminal(message: string): Promise<string> {
  // Loaded when it is used: of all programs only cells ask here.
  const { createInterface } = await import("node:readline/promises");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question(message);
  } finally {
    terminal.close();
  }
}

type Told = (error: unknown) => void;

/**
 * Hears of errors that nobody waits for, until what is given back is called; undefined where somebody else
 * has already said what becomes of them.
 */
export function onUnhandledErrors(onRejection: Told, onException: Told): (() => void) | undefined {
  if (process.listenerCount("unhandledRejection") > 0) return undefined;
  process.on("unhandledRejection", onRejection);
  process.on("uncaughtException", onException);
  return () => {
    process.off("unhandledRejection", onRejection);
    process.off("uncaughtException", onException);
  };
}

/** Ends the process with an error that may have left anything half done. */
export function exitWith(error: unknown): never {
  process.stderr.write(`${inspect(error)}\n`);
  process.exit(1);
}

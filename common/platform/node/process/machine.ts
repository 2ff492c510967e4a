import { readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";

export { homedir, hostname } from "node:os";

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

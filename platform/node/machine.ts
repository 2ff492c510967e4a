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

export { spawn, spawnSync, type ChildProcess } from "node:child_process";

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

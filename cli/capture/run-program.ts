import { spawn } from "node:child_process";

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

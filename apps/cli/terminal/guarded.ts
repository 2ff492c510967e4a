import { aside } from "./say.js";

/** Does a command's work where a user's code may run: what that code does to the process is told. */
export async function guarded<T>(
  options: { afterwards: string; patienceMs?: number },
  work: () => Promise<T>,
): Promise<T> {
  const report = (message: string) => aside(`warning: ${message}`);
  const { guardProcess } = await import("../../../src/base/watch/guard-process.js");
  const guard = guardProcess({ ...options, report });
  try {
    return await work();
  } finally {
    guard.end();
  }
}

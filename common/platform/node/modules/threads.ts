import { Worker, workerData } from "node:worker_threads";
import { packagePath } from "./package-path.js";

/** Starts a script of the package in a thread of its own, which keeps no process alive. */
export function startThread(script: string, data: unknown): void {
  // Not with this process's own flags: a worker refuses some, such as --input-type.
  new Worker(packagePath(script), { workerData: data, execArgv: [] }).unref();
}

/** What the thread that this is was started with. */
export function threadData(): Promise<unknown> {
  return Promise.resolve(workerData);
}

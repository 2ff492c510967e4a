import { expectManyListeners } from "#platform/many-listeners";
import type { Random } from "../../random/random.js";
import { Semaphore } from "../../concurrency/semaphore.js";
import { ToolSet } from "../../tools/tool-set.js";
import type { ReadyOptions } from "../options.js";
import { TreeEpisodes } from "./tree-episodes.js";

/** How a task is named in errors. */
function taskName(task: object, index: number): string {
  const { id } = task as { id?: unknown };
  return `task ${typeof id === "string" ? id : index}`;
}

/**
 * Opens an environment for each task, its randomness a function of the seed and the task's place; uses them
 * all and disposes whatever is left of them, however the use ends. The options it hands on stop with it. Without an environment it only calls.
 */
export async function inEnvironments<R>(
  places: readonly { task: object; index: number }[],
  seed: Random,
  options: ReadyOptions,
  use: (episodes: readonly TreeEpisodes[] | undefined, options: ReadyOptions) => Promise<R>,
): Promise<R> {
  const { environment: source, signal: outer } = options;
  if (!source) return use(undefined, options);
  outer?.throwIfAborted();
  const tools = options.tools ?? new ToolSet();
  const stop = new AbortController();
  const signal = outer ? AbortSignal.any([outer, stop.signal]) : stop.signal;
  expectManyListeners(signal); // Every instance listens.
  const semaphore = new Semaphore(tools.maxWorkers);
  const opening = places.map(({ task, index }) => {
    const random = seed.split(index).split("environment");
    const name = taskName(task, index);
    return semaphore.run(() =>
      TreeEpisodes.open({ source, task, taskName: name, random, tools, signal }),
    );
  });
  let failed = true;
  try {
    for (const one of opening) one.catch((error: unknown) => stop.abort(error));
    const result = await use(await Promise.all(opening), { ...options, tools });
    failed = false;
    return result;
  } finally {
    stop.abort(new Error("Cannot go on: the rollout is over"));
    const ended = disposeAll(opening);
    // What went wrong first is what is told.
    await (failed ? ended.catch(() => undefined) : ended);
  }
}

async function disposeAll(opening: readonly Promise<TreeEpisodes>[]): Promise<void> {
  const opened = await Promise.allSettled(opening);
  const ended = await Promise.allSettled(
    opened.map((one) => (one.status === "fulfilled" ? one.value.dispose() : undefined)),
  );
  const failed = ended.find((one) => one.status === "rejected");
  if (failed) throw failed.reason;
}

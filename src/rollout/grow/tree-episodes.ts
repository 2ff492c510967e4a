import { expectManyListeners } from "#platform/process";
import { inTime } from "../../base/concurrency/in-time.js";
import { Semaphore } from "../../base/concurrency/semaphore.js";
import {
  checkEnvironment,
  type Environment,
  environmentName,
  type EnvironmentSource,
  makeEnvironment,
  methodOf,
} from "../../environments/environment.js";
import type { Random } from "../../base/random/random.js";
import { takesNothing, ToolSet } from "../../tools/tool-set.js";
import { running } from "../../base/watch/running.js";
import type { ReadyOptions } from "../options.js";
import { Episode, type EpisodeHost, type PastCall } from "./episode.js";
import type { LiveNode } from "./live-trajectory.js";

/** What the environment of a tree is made from. */
interface EpisodeSetting {
  source: EnvironmentSource;
  task: object;
  /** How the task is named in errors. */
  taskName: string;
  random: Random;
  /** Whose limits hold, and whose tags are taken. */
  tools: ToolSet;
  signal: AbortSignal;
}

/** The environment of one tree: makes the instances that its trajectories act in, and disposes each once. */
export class TreeEpisodes implements EpisodeHost {
  readonly #setting: EpisodeSetting;
  readonly #open = new Set<Environment>();
  #root: Environment | undefined;
  #first: Environment | undefined;
  readonly tags: string[] = [];
  /** What its tools do, by tag. */
  descriptions: Readonly<Record<string, string>> = {};
  /** Those of its tools that take no arguments. */
  readonly plain = new Set<string>();
  /** What it said when it was reset. */
  observation: string | undefined;
  /** Whether a trajectory's end is worth asking about. */
  scores = false;
  /** Whether instances can be copied as they stand. */
  cloneable = false;
  #closed = false;

  private constructor(setting: EpisodeSetting) {
    this.#setting = setting;
  }

  /** Resets a first instance, to learn its tools and what it says. */
  static async open(setting: EpisodeSetting): Promise<TreeEpisodes> {
    const made = new TreeEpisodes(setting);
    try {
      const root = await made.#make();
      made.#root = root;
      made.#first = root;
      made.tags.push(...Object.keys(root.tools));
      made.descriptions = root.tools;
      for (const tag of made.tags) {
        if (takesNothing({ execute: methodOf(root, tag) })) made.plain.add(tag);
      }
      made.scores = root.reward !== undefined;
      made.cloneable = root.clone !== undefined;
      const taken = made.tags.find((tag) => setting.tools.get(tag));
      if (taken !== undefined) {
        throw new RangeError(
          `Cannot use environment ${made.name}: each tag may be used once, got ${taken} of a tool too`,
        );
      }
      return made;
    } catch (error) {
      await made.dispose();
      throw error;
    }
  }

  get name(): string {
    return environmentName(this.#setting.source);
  }

  get taskName(): string {
    return this.#setting.taskName;
  }

  get tools(): ToolSet {
    return this.#setting.tools;
  }

  get signal(): AbortSignal {
    return this.#setting.signal;
  }

  /** Whether trajectories may branch: false once their environment has said that it cannot be had twice. */
  get branches(): boolean {
    return this.#first?.branches !== false;
  }

  /** The episode of a trajectory that stands behind a node: its calls on the path there were made. */
  after(node: LiveNode | undefined): Episode {
    const calls: PastCall[] = [];
    for (let at = node; at; at = at.parent) {
      const { tool } = at;
      if (tool && this.tags.includes(tool.tag)) calls.unshift(tool);
    }
    return new Episode(this, calls);
  }

  /** An instance as it is after the reset. */
  async begin(): Promise<Environment> {
    const root = this.#root;
    if (root?.clone) return this.copy(root);
    this.#root = undefined;
    return root ?? this.#make();
  }

  /** Another instance in the state of one that can be cloned. */
  async copy(of: Environment): Promise<Environment> {
    return this.#limited("clone", async () => {
      const copy = await of.clone!();
      if (copy === of) throw new TypeError("clone() must give another instance, got the same");
      return this.#keep(checkEnvironment(copy, "clone() must give an instance"));
    });
  }

  /** Counts an instance among those to be disposed; one that comes too late is disposed at once. */
  async #keep(instance: Environment): Promise<Environment> {
    this.#open.add(instance);
    if (this.#closed) await this.leave(instance);
    return instance;
  }

  /** Runs a part of an instance in the time that a call may take; an error says whose it is. */
  async #limited<T>(doing: string, run: () => Promise<T>): Promise<T> {
    const { tools, signal, taskName } = this.#setting;
    signal.throwIfAborted();
    const work = running(`the ${doing} of environment ${this.name} for ${taskName}`, run);
    const { timeoutMs: ms } = tools;
    const late = () => new Error(`no answer within ${ms / 1000} s`);
    return inTime(work, { ms, late, signal }).catch((error: unknown) => {
      if (signal.aborted && error === signal.reason) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`${this.#problem(doing)}: ${why}`, { cause: error });
    });
  }

  /** What an instance says a trajectory was worth. */
  score(of: Environment, end: Parameters<NonNullable<Environment["reward"]>>[0]) {
    return this.#limited("reward", async () => of.reward!(end));
  }

  /** Disposes an instance, once. */
  async leave(instance: Environment): Promise<void> {
    if (!this.#open.delete(instance) || !instance.dispose) return;
    const { timeoutMs: ms } = this.#setting.tools;
    const late = () => new Error(`${this.#problem("dispose")}: it must end within ${ms / 1000} s`);
    const what = `the disposal of environment ${this.name}`;
    await inTime(
      running(what, async () => instance.dispose?.()),
      { ms, late },
    );
  }

  /** Disposes every instance that is still there, all of them even when one fails. */
  async dispose(): Promise<void> {
    this.#closed = true;
    const done = await Promise.allSettled([...this.#open].map((instance) => this.leave(instance)));
    const failed = done.find((one) => one.status === "rejected");
    if (failed) throw failed.reason;
  }

  #problem(doing: string): string {
    return `Cannot ${doing} environment ${this.name} for ${this.#setting.taskName}`;
  }

  async #make(): Promise<Environment> {
    const { source, task, random, signal } = this.#setting;
    const instance = await this.#limited("make", async () =>
      this.#keep(await makeEnvironment(source)),
    );
    const start = { random: random.split("reset"), signal };
    try {
      await instance.ready?.(signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new Error(`${this.#problem("reset")}: ${(error as Error).message}`, { cause: error });
    }
    const said =
      (await this.#limited("reset", async () => instance.reset(task, start))) ?? undefined;
    if (said !== undefined && typeof said !== "string") {
      throw new TypeError(
        `${this.#problem("reset")}: it must say text or nothing, got ${typeof said}`,
      );
    }
    if (this.tags.length === 0) this.observation = said;
    else if (said !== this.observation) {
      throw new Error(
        `${this.#problem("reset")}: it must say the same every time, ${JSON.stringify(this.observation)} at first, got ${JSON.stringify(said)}`,
      );
    }
    return instance;
  }
}

/** Tells whether a tool, of a set or of an environment, takes no arguments. */
export const plainIn =
  (tools: ToolSet | undefined, episodes: TreeEpisodes | undefined) =>
  (tag: string): boolean => {
    const tool = tools?.get(tag);
    return tool ? takesNothing(tool) : episodes?.plain.has(tag) === true;
  };

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

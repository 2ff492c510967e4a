import { defined } from "../../../common/options/defined.js";
import { methodOf, type Environment, type EpisodeEnd } from "../../environments/environment.js";
import type { EpisodeScore } from "../../environments/environment.js";
import type { ToolOutcome, ToolSet } from "../../tools/tool-set.js";
import type { NodeTool, TrajectoryOutcome } from "../tree/tree-values.js";

/** A call that was made before, and what came of it. */
export type PastCall = Pick<NodeTool, "tag" | "input" | "text" | "failure" | "edited">;

/** The environment of a tree, as its episodes use it. */
export interface EpisodeHost {
  readonly name: string;
  /** How the task is named in errors. */
  readonly taskName: string;
  /** Whose limits hold. */
  readonly tools: ToolSet;
  readonly signal: AbortSignal;
  /** Whether instances can be copied as they stand, and whether a trajectory's end is worth asking about. */
  readonly cloneable: boolean;
  readonly scores: boolean;
  /** An instance as it is after the reset. */
  begin(): Promise<Environment>;
  copy(of: Environment): Promise<Environment>;
  score(of: Environment, end: EpisodeEnd): Promise<number | EpisodeScore>;
  /** Disposes an instance, once. */
  leave(instance: Environment): Promise<void>;
}

/**
 * What one trajectory does in its environment. The instance is made when it is first needed: fresh, as a clone
 * of the one it branched from, or by taking the trajectory's calls again.
 */
export class Episode {
  readonly #tree: EpisodeHost;
  readonly #calls: PastCall[];
  #instance: Promise<Environment> | undefined;
  /** Clones under way: the next call must not change what they copy. */
  readonly #copying = new Set<Promise<unknown>>();
  #failure: string | undefined;
  #done = false;

  constructor(tree: EpisodeHost, calls: readonly PastCall[], instance?: Promise<Environment>) {
    this.#tree = tree;
    this.#calls = [...calls];
    this.#instance = instance;
    const late = calls.find(({ failure }) => failure?.kind === "timeout");
    if (late) this.#failure = `<${late.tag}> gave ${late.failure!.message}`;
  }

  /** The environment said that it is over. */
  get done(): boolean {
    return this.#done;
  }

  /** Another episode that stands where this one does now. */
  fork(): Episode {
    const from = this.#instance;
    if (this.#failure !== undefined || !from || !this.#tree.cloneable) {
      // The calls are taken again when the copy is first needed.
      return new Episode(this.#tree, this.#calls);
    }
    const copy = from.then((instance) => this.#tree.copy(instance));
    this.#copying.add(copy);
    const settled = () => void this.#copying.delete(copy);
    copy.then(settled, settled); // A failure is seen by who uses the copy.
    return new Episode(this.#tree, this.#calls, copy);
  }

  /** Calls a tool of the environment. */
  async call(tag: string, input: string, signal?: AbortSignal): Promise<ToolOutcome> {
    if (this.#failure !== undefined) return this.#lost(tag, input);
    this.#instance ??= this.#rebuild(this.#calls);
    const instance = await this.#instance;
    await Promise.allSettled(this.#copying);
    if (instance.ready) {
      try {
        await instance.ready(signal ?? this.#tree.signal);
      } catch (error) {
        (signal ?? this.#tree.signal).throwIfAborted();
        this.#failure = error instanceof Error ? error.message : String(error);
        return this.#lost(tag, input);
      }
    }
    const outcome = await this.#act(instance, tag, input, signal);
    if (outcome.failure?.kind === "timeout") {
      this.#failure = `<${tag}> gave ${outcome.failure.message}`;
    }
    this.#calls.push(outcome);
    this.#done = instance.done === true;
    return outcome;
  }

  /** Ends the episode: what it was worth. */
  async end(ending: EpisodeEnd): Promise<TrajectoryOutcome | undefined> {
    try {
      if (this.#failure !== undefined) {
        return { reason: "the environment could not go on", failure: this.#failure };
      }
      if (!this.#tree.scores) return undefined;
      this.#instance ??= this.#rebuild(this.#calls);
      const found = await this.#tree.score(await this.#instance, ending);
      const { score, reason, parts } =
        typeof found === "number" ? { score: found, reason: "", parts: undefined } : found;
      if (!Number.isFinite(score)) {
        throw new RangeError(
          `Cannot score environment ${this.#tree.name} for ${this.#tree.taskName}: its reward must be a finite number, or { score, reason } with one, got ${String(score)}`,
        );
      }
      return { score, reason, ...defined({ parts }) };
    } finally {
      await this.leave();
    }
  }

  /** Gives the instance back. */
  async leave(): Promise<void> {
    await Promise.allSettled(this.#copying);
    const instance = await this.#instance?.catch(() => undefined);
    if (instance) await this.#tree.leave(instance);
  }

  async #act(instance: Environment, tag: string, input: string, signal?: AbortSignal) {
    const { tools } = this.#tree;
    const tool = {
      ...{ name: tag, tag, description: "", emptyIsAnswer: true },
      execute: methodOf(instance, tag),
    };
    return tools.run(tool, input, { attempts: 1, signal });
  }

  /** A new instance that took the same calls and answered as before. */
  async #rebuild(calls: readonly PastCall[]): Promise<Environment> {
    const instance = await this.#tree.begin();
    for (const [i, { tag, input, text, edited }] of calls.entries()) {
      const outcome = await this.#act(instance, tag, input, this.#tree.signal);
      if (edited || outcome.text === text) continue;
      throw new Error(
        `Cannot rebuild environment ${this.#tree.name} for ${this.#tree.taskName}: call ${i + 1}, <${tag}>${input.slice(0, 60)}</${tag}>, must answer as before, ${JSON.stringify(text.slice(0, 120))}, got ${JSON.stringify(outcome.text.slice(0, 120))}; an environment draws from its start.random alone, or has clone()`,
      );
    }
    this.#done = instance.done === true;
    return instance;
  }

  #lost(tag: string, input: string): ToolOutcome {
    const message = `the environment could not go on: ${this.#failure}`;
    return {
      ...{ tag, input, text: `Error: Tool(${tag}) execution failed with message: ${message}` },
      ...{ ok: false, failure: { kind: "error", message }, retries: 0, ms: 0 },
    };
  }
}

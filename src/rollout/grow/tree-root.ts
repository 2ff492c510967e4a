import type { Sequence } from "../../policy/policy.js";
import type { Random } from "../../random/random.js";
import type { Environment } from "./environment.js";
import type { LiveNode, Written } from "./live-trajectory.js";
import type { Begun } from "./refills-ahead.js";
import { tokensBegun } from "./split-node.js";
import type { TreeStart } from "./tree-start.js";

/** Where a tree's new root trajectories start, and how they begin. */
export class TreeRoot {
  readonly #env: Environment;
  readonly #start: TreeStart;
  #row: Sequence | undefined;

  constructor(env: Environment, start: TreeStart) {
    this.#env = env;
    this.#start = start;
  }

  /** A sequence of the session that stands where the tree starts; the prompt is read once for all of them. */
  open(): Sequence {
    const { session } = this.#env;
    if (!this.#row) {
      const { messages, prompt, prefixTokens = [], trunk } = this.#start;
      const options = messages ? { messages } : {};
      this.#row =
        trunk?.open(session, prompt.tokens, options, prefixTokens.length) ??
        session.open(prompt.tokens, options);
      if (!trunk && prefixTokens.length > 0) session.append(this.#row, prefixTokens);
    }
    return session.fork(this.#row);
  }

  /** The sampling stream of the trajectory with a number. */
  stream(number: number): Random {
    return this.#start.random.split("sample").split(number);
  }

  /** The first segment of a new root trajectory that may turn out not to exist. */
  begin(number: number): Begun {
    const { session, signal, config } = this.#env;
    const handle = this.open();
    const random = this.stream(number);
    const most = Math.max(1, config.responseLength - (this.#start.prefixTokens?.length ?? 0));
    const dropped = new AbortController();
    const either = AbortSignal.any([signal, dropped.signal]);
    const giveUp = () => {
      dropped.abort(new Error("Cannot go on: a branch took the trajectory's place"));
      session.close(handle);
    };
    return {
      handle,
      random,
      giveUp,
      written: this.write(handle, random, most, this.#start.prefix, either),
    };
  }

  /** Lets a sequence of the session write until a call, its end or `maxTokens`. */
  async write(
    handle: Sequence,
    random: Random,
    maxTokens: number,
    leaf: LiveNode | undefined,
    signal = this.#env.signal,
  ): Promise<Written> {
    const { session, sampling, stops, clock } = this.#env;
    const start = clock();
    const begun = tokensBegun(leaf);
    const options = { ...sampling, maxTokens, stop: stops, begun, random, signal };
    const segment = await session.generate(handle, options);
    return { segment, start, end: clock() };
  }

  /** Gives the prompt's own trajectory back. */
  close(): void {
    if (this.#row) this.#env.session.close(this.#row);
    this.#row = undefined;
  }
}

import { defined } from "../../../common/options/defined.js";
import { behind } from "../../policy/structured/grammar-constraint.js";
import { type AuthoredText, withoutAnswers } from "../../base/text/authored-text.js";
import type { Sequence } from "../../policy/policy.js";
import type { Random } from "../../base/random/random.js";
import type { TrajectoryEnd, TrajectoryKind } from "../tree/tree-values.js";
import type { RolloutState } from "./rollout-state.js";
import type { LiveNode, LiveTrajectory, Written } from "./live-trajectory.js";
import { tokensBegun } from "./split-node.js";
import type { TreeStart } from "./tree-start.js";

/** A first segment that is being written for a trajectory that may never exist. */
interface Begun {
  handle: Sequence;
  random: Random;
  written: Promise<Written>;
  giveUp: () => void;
}

/**
 * First segments of new root trajectories, written before it is known which of them there will be.
 *
 * When no trajectory continues, the reference makes one new root trajectory, waits for its segment, and
 * only then knows whether the next number is another new root trajectory or a branch. What a new root
 * trajectory writes first depends on its number alone, since its random stream is named after it. So those
 * of all numbers that are left are written together; a number that a branch takes drops its segment. Each
 * number is begun at most once, so a tree never writes more than one segment in vain for each trajectory of
 * its budget.
 */
class RefillsAhead {
  readonly #beginTrajectory: (number: number) => Begun;
  readonly #begun = new Map<number, Begun>();
  /** The first number that was never begun. */
  #next = 0;

  constructor(beginTrajectory: (number: number) => Begun) {
    this.#beginTrajectory = beginTrajectory;
  }

  /** Begins every number from `from` up to `until` that was not begun before. */
  begin(from: number, until: number): void {
    for (let number = Math.max(from, this.#next); number < until; number++) {
      const begun = this.#beginTrajectory(number);
      begun.written.catch(() => undefined); // Its failure is seen by who takes it.
      this.#begun.set(number, begun);
    }
    this.#next = Math.max(this.#next, until);
  }

  /** What was begun for a number, which a new root trajectory takes over. */
  take(number: number): Begun | undefined {
    const begun = this.#begun.get(number);
    this.#begun.delete(number);
    return begun;
  }

  /** A number that turned out to be another trajectory. */
  drop(number: number): void {
    this.take(number)?.giveUp();
  }

  /** Drops all that is left. */
  close(): void {
    for (const number of [...this.#begun.keys()]) this.drop(number);
  }
}

/** Where a tree's new root trajectories start, and how they begin. */
class TreeRoot {
  readonly #shared: RolloutState;
  readonly #start: TreeStart;
  #row: Sequence | undefined;

  constructor(shared: RolloutState, start: TreeStart) {
    this.#shared = shared;
    this.#start = start;
  }

  /** A sequence of the session that stands where the tree starts; the prompt is read once for all of them. */
  open(): Sequence {
    const { session } = this.#shared;
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
    const { session, signal, config } = this.#shared;
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
    signal = this.#shared.signal,
  ): Promise<Written> {
    const { session, sampling, stops, clock } = this.#shared;
    const start = clock();
    const begun = tokensBegun(leaf);
    const { constraint: whole, ...free } = sampling;
    // A turn that was begun otherwise goes on as it was.
    const constraint = whole && behind(whole, handle.tokens.slice(handle.tokens.length - begun));
    const options = { ...free, maxTokens, stop: stops, begun, random, signal };
    const segment = await session.generate(handle, { ...options, ...defined({ constraint }) });
    return { segment, start, end: clock() };
  }

  /** Gives the prompt's own trajectory back. */
  close(): void {
    if (this.#row) this.#shared.session.close(this.#row);
    this.#row = undefined;
  }
}

/** What a trajectory begins with; the rest follows from its number. */
type NewTrajectory = Omit<
  LiveTrajectory,
  "id" | "random" | "key" | "entropy" | "end" | "outcome" | "split"
> & { random?: Random };

/** The trajectories of a tree: how each begins, and what is waited for once it has ended. */
export class TreeTrajectories {
  readonly list: LiveTrajectory[] = [];
  readonly #shared: RolloutState;
  readonly #start: TreeStart;
  readonly #root: TreeRoot;
  readonly #ahead: RefillsAhead;
  /** Episodes that are being ended. */
  readonly #endings: Promise<void>[] = [];

  constructor(shared: RolloutState, start: TreeStart) {
    this.#shared = shared;
    this.#start = start;
    this.#root = new TreeRoot(shared, start);
    this.#ahead = new RefillsAhead((number) => this.#root.begin(number));
  }

  /** Trajectories that may still be made. */
  get remaining(): number {
    return this.#shared.config.n - this.list.length;
  }

  /** A sequence of the session that stands where the tree starts. */
  openStart(): Sequence {
    return this.#root.open();
  }

  /** Its next segment: what was begun ahead, or what it writes now. */
  write(trajectory: LiveTrajectory, maxTokens: number): Promise<Written> {
    const { handle, random, leaf, begun } = trajectory;
    trajectory.begun = undefined;
    return begun ?? this.#root.write(handle, random, maxTokens, leaf);
  }

  /** A new root trajectory. */
  fresh(kind: TrajectoryKind, round: number): LiveTrajectory {
    const { prefix, calls = 0 } = this.#start;
    const begun = this.#ahead.take(this.list.length);
    return this.add({
      kind,
      round,
      parent: -1,
      from: prefix,
      leaf: prefix,
      handle: begun?.handle ?? this.#root.open(),
      length: this.#start.prefixTokens?.length ?? 0,
      calls,
      baseline: undefined,
      consecutive: 0,
      ...(begun ? { random: begun.random, begun: begun.written } : {}),
    });
  }

  /** A new root trajectory, when none survived and the budget is not spent. */
  refill(round: number): LiveTrajectory | undefined {
    if (this.remaining === 0) return undefined;
    if (this.#shared.refillsAhead) this.#ahead.begin(this.list.length, this.#shared.config.n);
    return this.fresh("refill", round + 1);
  }

  add(parts: NewTrajectory): LiveTrajectory {
    const number = this.list.length;
    this.#ahead.drop(number);
    const trajectory: LiveTrajectory = {
      id: number,
      ...parts,
      split: parts.length,
      random: parts.random ?? this.#root.stream(number),
      key: this.#shared.nextKey(),
      entropy: 0,
      end: undefined,
    };
    this.list.push(trajectory);
    const { kind, round, parent } = parts;
    this.#shared.emit({
      type: "trajectory",
      tree: this.#start.index,
      trajectory: number,
      kind,
      round,
      parent,
    });
    return trajectory;
  }

  /** Ends what the trajectory does in its environment. */
  endEpisode(trajectory: LiveTrajectory, end: TrajectoryEnd): void {
    const { episodes } = this.#start;
    if (!episodes) return;
    if (episodes.scores) trajectory.episode ??= episodes.after(trajectory.leaf);
    if (!trajectory.episode) return;
    const parts: AuthoredText[] = [];
    for (let node = trajectory.leaf; node; node = node.parent) {
      parts.unshift({ by: node.kind === "tool" ? "environment" : "model", text: node.text });
    }
    const response = withoutAnswers(parts);
    const ending = trajectory.episode.end({ response, end }).then((outcome) => {
      if (outcome) trajectory.outcome = outcome;
    });
    this.await(ending);
  }

  /** What must be over before the tree is complete; a failure is seen then. */
  await(ending: Promise<void>): void {
    ending.catch(() => undefined);
    this.#endings.push(ending);
  }

  /** Waits until every environment has said what the trajectories that ended were worth. */
  async outcomes(): Promise<void> {
    await Promise.all(this.#endings);
  }

  /** Gives the prompt's own session sequence back. */
  close(): void {
    this.#ahead.close();
    this.#root.close();
  }
}

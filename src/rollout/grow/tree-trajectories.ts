import type { Sequence } from "../../policy/policy.js";
import type { Random } from "../../random/random.js";
import type { TrajectoryEnd, TrajectoryKind } from "../tree/tree-values.js";
import type { Environment } from "./environment.js";
import type { LiveTrajectory, Written } from "./live-trajectory.js";
import { RefillsAhead } from "./refills-ahead.js";
import { TreeRoot } from "./tree-root.js";
import type { TreeStart } from "./tree-start.js";

/** What a trajectory begins with; the rest follows from its number. */
type NewTrajectory = Omit<
  LiveTrajectory,
  "id" | "random" | "key" | "entropy" | "end" | "outcome" | "split"
> & { random?: Random };

/** The trajectories of a tree: how each begins, and what is waited for once it has ended. */
export class TreeTrajectories {
  readonly list: LiveTrajectory[] = [];
  readonly #env: Environment;
  readonly #start: TreeStart;
  readonly #root: TreeRoot;
  readonly #ahead: RefillsAhead;
  /** Episodes that are being ended. */
  readonly #endings: Promise<void>[] = [];

  constructor(env: Environment, start: TreeStart) {
    this.#env = env;
    this.#start = start;
    this.#root = new TreeRoot(env, start);
    this.#ahead = new RefillsAhead((number) => this.#root.begin(number));
  }

  /** Trajectories that may still be made. */
  get remaining(): number {
    return this.#env.config.n - this.list.length;
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
    if (this.#env.refillsAhead) this.#ahead.begin(this.list.length, this.#env.config.n);
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
      key: this.#env.nextKey(),
      entropy: 0,
      end: undefined,
    };
    this.list.push(trajectory);
    const { kind, round, parent } = parts;
    this.#env.emit({
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
    let response = "";
    for (let node = trajectory.leaf; node; node = node.parent) response = node.text + response;
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

import type { Segment } from "../../policy/policy.js";
import { Random } from "../../base/random/random.js";
import { branchOf, decideBranch } from "../rules/decide-branch.js";
import { segmentEntropy } from "../branch/segment-entropy.js";
import type { BranchAttempt } from "../tree/tree-values.js";
import type { RolloutState } from "./rollout-state.js";
import type { BranchPoint, LiveTrajectory } from "./live-trajectory.js";
import type { TreeStart } from "./tree-start.js";
import type { TreeTrajectories } from "./tree-trajectories.js";

/** The entropy that branching rules compare. */
export const entropyOf = (segment: Segment, { policy, config }: RolloutState): number =>
  segmentEntropy(segment, policy.tokenizer.vocabSize, config.entropy);

/** Where a tree's trajectories branch, round by round. */
export class TreeBranches {
  readonly #shared: RolloutState;
  readonly #start: TreeStart;
  readonly #trajectories: TreeTrajectories;

  constructor(shared: RolloutState, start: TreeStart, trajectories: TreeTrajectories) {
    this.#shared = shared;
    this.#start = start;
    this.#trajectories = trajectories;
  }

  /**
   * The state that branches of this round copy. With `moving` the trajectory continues before the round is
   * decided, so the state is kept in a fork: it shares the trajectory's memory and costs nothing.
   */
  async point(trajectory: LiveTrajectory, moving: boolean): Promise<BranchPoint> {
    const { config, session } = this.#shared;
    const possible = this.#attempts > 0;
    const later = config.entropyTiming === "after-result" && possible;
    const point: BranchPoint = {
      trajectory,
      handle: trajectory.handle,
      owned: false,
      node: trajectory.leaf!,
      length: trajectory.length,
      calls: trajectory.calls,
      entropy: trajectory.entropy,
      baseline: trajectory.baseline!,
      episode: possible && moving ? trajectory.episode?.fork() : trajectory.episode,
    };
    if (later) point.entropy = await this.#lookAhead(trajectory);
    if (possible && moving) {
      point.handle = session.fork(trajectory.handle);
      point.owned = true;
    }
    return point;
  }

  /** How many attempts at a branch a trajectory has now: none where its environment cannot be had twice. */
  get #attempts(): number {
    if (this.#start.episodes?.branches === false) return 0;
    return Math.min(this.#shared.config.attemptsPerTrajectory, this.#trajectories.remaining);
  }

  /** The round's branches, in the order of the surviving trajectories. */
  decide(round: number, points: readonly BranchPoint[], promptCount: number): LiveTrajectory[] {
    const { session } = this.#shared;
    const born: LiveTrajectory[] = [];
    for (const point of points) {
      const attempts = this.#attempts;
      const made: BranchAttempt[] = [];
      for (let attempt = 0; attempt < attempts; attempt++) {
        const tried = this.#attempt(point, round, attempt, promptCount);
        made.push(tried);
        if (tried.branch) {
          const child = this.#copy(point, round + 1);
          tried.child = child.id;
          born.push(child);
        }
        this.#shared.emit({ type: "attempt", tree: this.#start.index, attempt: tried });
      }
      if (made.length > 0) {
        point.node.branch = made;
        const branched = made.some((m) => m.branch);
        const consecutive = branched ? point.trajectory.consecutive + 1 : 0;
        point.trajectory.consecutive = consecutive;
        for (const { child } of made)
          if (child !== undefined) this.#trajectories.list[child]!.consecutive = consecutive;
      }
      if (point.owned) {
        session.close(point.handle);
        if (point.episode) this.#trajectories.await(point.episode.leave());
      }
    }
    return born;
  }

  #attempt(point: BranchPoint, round: number, attempt: number, promptCount: number): BranchAttempt {
    const { config, draws } = this.#shared;
    const { id } = point.trajectory;
    const u = draws
      ? draws({ prompt: this.#start.index, trajectory: id, round, attempt })
      : this.#start.random.split("branch").split(id).split(round).at(attempt);
    const consecutive = config.penalty === "path" ? point.trajectory.consecutive : promptCount;
    const { entropy, baseline } = point;
    if (!Number.isFinite(entropy - baseline)) {
      throw new Error(
        `Cannot branch: rule ${config.rule} needs a segment's entropy, got ${entropy}: policy ${this.#shared.policy.name} does not report what entropy.measure "${config.entropy.measure}" is made of`,
      );
    }
    const situation = { u, entropy, baseline, consecutive };
    const verdict = decideBranch(branchOf(config), situation);
    return {
      trajectory: id,
      round,
      attempt,
      ...situation,
      remaining: this.#trajectories.remaining,
      ...verdict,
    };
  }

  /** The entropy of what the trajectory is about to write: the same tokens from the same stream, discarded. */
  async #lookAhead(trajectory: LiveTrajectory): Promise<number> {
    const { session, sampling, stops, signal, config } = this.#shared;
    const copy = session.fork(trajectory.handle);
    const random = Random.restore(trajectory.random.state());
    const maxTokens = config.entropy.positions;
    const options = { ...sampling, maxTokens, stop: stops, random, signal };
    const segment = await session.generate(copy, options);
    session.close(copy);
    return entropyOf(segment, this.#shared);
  }

  #copy(point: BranchPoint, round: number): LiveTrajectory {
    return this.#trajectories.add({
      kind: "branch",
      round,
      parent: point.trajectory.id,
      from: point.node,
      leaf: point.node,
      handle: this.#shared.session.fork(point.handle),
      length: point.length,
      calls: point.calls,
      baseline: this.#shared.config.baseline === "ancestor" ? point.baseline : undefined,
      consecutive: point.trajectory.consecutive,
      ...(point.episode ? { episode: point.episode.fork() } : {}),
    });
  }
}

/* eslint-disable max-lines -- the steps of one state machine, which share its state */
import { defined } from "../../arguments/defined.js";
import type { Sequence, Segment } from "../../policy/policy.js";
import { Random } from "../../random/random.js";
import type { ToolOutcome } from "../../tools/tool-set.js";
import { decideBranch } from "../branch/branch-rule.js";
import { classify, type SegmentOutcome } from "./classify.js";
import type { Environment } from "./environment.js";
import type { BranchPoint, LiveNode, LiveTrajectory } from "./live-trajectory.js";
import { RefillsAhead } from "./refills-ahead.js";
import { encodeResult } from "./encode-result.js";
import { segmentEntropy } from "../branch/segment-entropy.js";
import type { Episode } from "./episode.js";
import { TreeRoot } from "./tree-root.js";
import type { TreeStart } from "./tree-start.js";
import { nodeBefore, textAfter } from "./split-node.js";
import type { PromptText, RolloutTask } from "../task.js";
import type { TreeEnvironment } from "../tree/tree-data.js";
import type {
  BranchAttempt,
  TrajectoryChoice,
  TrajectoryEnd,
  TrajectoryKind,
} from "../tree/tree-values.js";

/**
 * How much of a result is kept beyond the response length, for forks with a longer one. The rest is not
 * even looked at: a tool may answer with megabytes.
 */
const spareTokens = 4096;

/**
 * One prompt's tree while it grows: the steps of the state machine, each for one trajectory. Which step
 * follows when is the schedule's business.
 */
export class TreeRun {
  readonly index: number;
  readonly prompt: PromptText;
  readonly trajectories: LiveTrajectory[] = [];
  readonly #env: Environment;
  readonly #start: TreeStart;
  readonly #root: TreeRoot;
  readonly #ahead: RefillsAhead;
  /** Episodes that are being ended. */
  readonly #endings: Promise<void>[] = [];
  /** Trajectories that ended keep their place in the session, so that others can leave them. */
  retaining = false;
  #retained: Sequence[] = [];
  /** The trajectories that training uses, where the rule says so. */
  selection: number[] | undefined;

  constructor(env: Environment, start: TreeStart) {
    this.#env = env;
    this.#start = start;
    this.index = start.index;
    this.prompt = start.prompt;
    this.#root = new TreeRoot(env, start);
    this.#ahead = new RefillsAhead((number) => this.#root.begin(number));
    const { length } = start.prompt.tokens;
    const context = env.policy.contextLength;
    if (length >= context) {
      throw new RangeError(
        `Cannot roll out: the prompt must be shorter than the policy's context of ${context} tokens, got ${length}`,
      );
    }
    if (length === 0) {
      throw new RangeError("Cannot roll out: the prompt must have at least one token, got none");
    }
  }

  /** The stream that the tree's own streams are split from. */
  get random(): Random {
    return this.#start.random;
  }

  get task(): RolloutTask {
    return this.#start.task;
  }

  /** What stands of the response before the tree starts. */
  get prefixTokens(): readonly number[] {
    return this.#start.prefixTokens ?? [];
  }

  /** Trajectories that may still be made. */
  get remaining(): number {
    return this.#env.config.n - this.trajectories.length;
  }

  /** A sequence of the session that stands where the tree starts. */
  openStart(): Sequence {
    return this.#root.open();
  }

  /** The first trajectories: copies of the prompt. */
  start(rows: number): LiveTrajectory[] {
    return Array.from({ length: rows }, () => this.#fresh("initial", 0));
  }

  /** Lets the trajectory write until a call, its end or `maxTokens`. */
  async generate(trajectory: LiveTrajectory, round: number, maxTokens: number): Promise<LiveNode> {
    const { config, policy, emit } = this.#env;
    const begun =
      trajectory.begun ??
      this.#root.write(trajectory.handle, trajectory.random, maxTokens, trajectory.leaf);
    trajectory.begun = undefined;
    const { segment, start, end } = await begun;
    trajectory.length += segment.tokens.length;
    trajectory.entropy = this.#entropy(segment);
    trajectory.baseline ??=
      this.#env.keepBaselines?.of(trajectory.key, trajectory.entropy) ?? trajectory.entropy;
    const node: LiveNode = {
      ...this.#node("model", trajectory, round),
      tokens: segment.tokens,
      text: config.expansion
        ? textAfter(trajectory.leaf, segment, policy.tokenizer)
        : policy.tokenizer.decode(segment.tokens, { skipSpecial: true }),
      logprobs: segment.logprobs,
      entropies: segment.entropies,
      entropy: trajectory.entropy,
      finish: segment.finish,
      run: { start, end },
    };
    if (segment.stop !== undefined) node.stop = segment.stop;
    if (config.keepTop) node.top = segment.top;
    trajectory.leaf = node;
    const { entropy } = trajectory;
    emit({
      type: "segment",
      tree: this.index,
      trajectory: trajectory.id,
      round,
      maxTokens,
      entropy,
      segment,
    });
    return node;
  }

  /** What the trajectory does after the segment; spends the call. */
  classify(trajectory: LiveTrajectory, node: LiveNode): SegmentOutcome {
    const { config, policy } = this.#env;
    const outcome = classify({
      segment: node,
      tokens: trajectory.handle.tokens,
      promptLength: this.prompt.tokens.length,
      calls: trajectory.calls,
      callLimit: config.callLimit,
      responseLength: config.responseLength,
      searchPrompt: config.compat.searchPrompt,
      tokenizer: policy.tokenizer,
    });
    if (outcome.kind === "call" || (outcome.kind === "end" && outcome.why === "bad-call"))
      trajectory.calls++;
    if (outcome.kind === "end" && outcome.why === "call-limit") {
      trajectory.leaf = {
        ...this.#node("end", trajectory, node.round),
        tokens: Int32Array.of(policy.tokenizer.eosId),
      };
      trajectory.length++;
    }
    return outcome;
  }

  /** Asks the tool and adds its answer to the trajectory. False if the answer does not fit into the context. */
  async call(
    trajectory: LiveTrajectory,
    round: number,
    tag: string,
    input: string,
  ): Promise<boolean> {
    const { tools, signal, emit, clock } = this.#env;
    const { episodes } = this.#start;
    const at = { tree: this.index, trajectory: trajectory.id, round };
    emit({ type: "call", ...at, tag, input });
    const start = clock();
    const acts = episodes?.tags.includes(tag) === true;
    if (acts) trajectory.episode ??= episodes.after(trajectory.leaf);
    const outcome = await (acts
      ? trajectory.episode!.call(tag, input, signal)
      : tools.call(tag, input, { signal }));
    emit({ type: "result", ...at, outcome });
    return this.answer(trajectory, round, outcome, start);
  }

  /** Adds a tool's answer to the trajectory. */
  answer(trajectory: LiveTrajectory, round: number, outcome: ToolOutcome, start: number): boolean {
    const { session, policy, config, clock } = this.#env;
    const capacity = policy.contextLength - trajectory.handle.tokens.length;
    const wanted = Math.max(0, config.responseLength - trajectory.length) + spareTokens;
    const { resultBegin } = config.compat;
    const most = Math.min(capacity, wanted);
    const block = encodeResult(outcome.text, policy.tokenizer, resultBegin, most);
    const fits = block.whole || wanted < capacity;
    const { tag, input, text, ok, failure, retries, ms, reward, details } = outcome;
    const node: LiveNode = {
      ...this.#node("tool", trajectory, round),
      tokens: Int32Array.from(fits ? block.tokens : []),
      text: fits ? block.text : "",
      tool: { tag, input, text, ok, retries },
      run: { start, end: clock(), toolMs: ms },
    };
    if (failure) node.tool!.failure = failure;
    if (reward !== undefined) node.tool!.reward = reward;
    if (details) node.run!.details = details;
    trajectory.leaf = node;
    if (fits) {
      session.append(trajectory.handle, block.tokens);
      trajectory.length += block.tokens.length;
    }
    return fits;
  }

  /** Ends the trajectory, or says that it continues. */
  survives(trajectory: LiveTrajectory, outcome: SegmentOutcome, fits: boolean): boolean {
    let end: TrajectoryEnd | undefined;
    if (outcome.kind === "end") end = outcome.why;
    else if (!fits) end = "context";
    else if (trajectory.episode?.done) end = "done";
    else if (trajectory.length >= this.#env.config.responseLength) end = "length";
    if (end === undefined) return true;
    this.end(trajectory, end);
    return false;
  }

  /** The trajectory writes no more. */
  end(trajectory: LiveTrajectory, end: TrajectoryEnd): void {
    trajectory.end = end;
    if (this.retaining) this.#retained.push(trajectory.handle);
    else this.#env.session.close(trajectory.handle);
    this.#endEpisode(trajectory, end);
    this.#env.emit({ type: "end", tree: this.index, trajectory: trajectory.id, end });
  }

  /** No trajectory will be left any more: those that ended give their memory back, now and from now on. */
  release(): void {
    for (const handle of this.#retained) this.#env.session.close(handle);
    this.#retained = [];
    this.retaining = false;
  }

  /** A new trajectory that keeps the first `at` tokens of a trajectory's response and writes on from there. */
  leave(trajectory: LiveTrajectory, at: number, chosen: TrajectoryChoice): LiveTrajectory {
    const { session, policy, config } = this.#env;
    const { tokenizer } = policy;
    const { node, whole } = nodeBefore(trajectory, at, { tokenizer, entropy: config.entropy });
    const handle = session.fork(trajectory.handle);
    if (at < trajectory.length) session.truncate(handle, this.prompt.tokens.length + at);
    let calls = 0;
    for (let n = node; n; n = n.parent) if (n.kind === "tool") calls++;
    return this.#add({
      kind: "branch",
      round: node ? node.round + (whole ? 1 : 0) : 0,
      parent: trajectory.id,
      from: node,
      leaf: node,
      handle,
      length: at,
      calls,
      baseline: undefined,
      consecutive: 0,
      chosen,
      // Elsewhere the environment takes the path's calls again, when it is first needed.
      ...(trajectory.end === undefined && at === trajectory.length && trajectory.episode
        ? { episode: trajectory.episode.fork() }
        : {}),
    });
  }

  /**
   * The state that branches of this round copy. With `moving` the trajectory continues before the round is
   * decided, so the state is kept in a fork: it shares the trajectory's memory and costs nothing.
   */
  async branchPoint(trajectory: LiveTrajectory, moving: boolean): Promise<BranchPoint> {
    const { config, session } = this.#env;
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
    return Math.min(this.#env.config.attemptsPerTrajectory, this.remaining);
  }

  /** The round's branches, in the order of the surviving trajectories. */
  branch(round: number, points: readonly BranchPoint[], promptCount: number): LiveTrajectory[] {
    const { session } = this.#env;
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
        this.#env.emit({ type: "attempt", tree: this.index, attempt: tried });
      }
      if (made.length > 0) {
        point.node.branch = made;
        const branched = made.some((m) => m.branch);
        const consecutive = branched ? point.trajectory.consecutive + 1 : 0;
        point.trajectory.consecutive = consecutive;
        for (const { child } of made)
          if (child !== undefined) this.trajectories[child]!.consecutive = consecutive;
      }
      if (point.owned) {
        session.close(point.handle);
        if (point.episode) this.#await(point.episode.leave());
      }
    }
    return born;
  }

  /** Gives the prompt's own session sequence back; the tree is complete. */
  close(): void {
    this.#ahead.close();
    this.release();
    this.#root.close();
  }

  /** Waits until every trajectory's environment has said what the trajectory was worth, and is gone. */
  async settle(): Promise<void> {
    await this.outcomes();
    await this.#start.episodes?.dispose();
  }

  /** Waits until every environment has said what the trajectories that ended were worth. */
  async outcomes(): Promise<void> {
    await Promise.all(this.#endings);
  }

  /** An episode from the tree's start, for trajectories that are thrown away. */
  trialEpisode(): { tags: readonly string[]; episode: Episode } | undefined {
    const { episodes, prefix } = this.#start;
    return episodes && { tags: episodes.tags, episode: episodes.after(prefix) };
  }

  /** What the tree carries of its environment; its seed is the caller's to add. */
  get environment(): Omit<TreeEnvironment, "seed"> | undefined {
    const { episodes } = this.#start;
    if (!episodes) return undefined;
    const { name, tags, observation } = episodes;
    return { name, tools: [...tags], ...defined({ observation }) };
  }

  #endEpisode(trajectory: LiveTrajectory, end: TrajectoryEnd): void {
    const { episodes } = this.#start;
    if (!episodes) return;
    if (episodes.scores) trajectory.episode ??= episodes.after(trajectory.leaf);
    if (!trajectory.episode) return;
    let response = "";
    for (let node = trajectory.leaf; node; node = node.parent) response = node.text + response;
    const ending = trajectory.episode.end({ response, end }).then((outcome) => {
      if (outcome) trajectory.outcome = outcome;
    });
    this.#await(ending);
  }

  /** What must be over before the tree is complete; a failure is seen then. */
  #await(ending: Promise<void>): void {
    ending.catch(() => undefined);
    this.#endings.push(ending);
  }

  /** A new root trajectory, when none survived and the budget is not spent. */
  refill(round: number): LiveTrajectory | undefined {
    if (this.remaining === 0) return undefined;
    if (this.#env.refillsAhead) this.#ahead.begin(this.trajectories.length, this.#env.config.n);
    return this.#fresh("refill", round + 1);
  }

  #attempt(point: BranchPoint, round: number, attempt: number, promptCount: number): BranchAttempt {
    const { config, draws } = this.#env;
    const { id } = point.trajectory;
    const u = draws
      ? draws({ prompt: this.index, trajectory: id, round, attempt })
      : this.#start.random.split("branch").split(id).split(round).at(attempt);
    const consecutive = config.penalty === "path" ? point.trajectory.consecutive : promptCount;
    const { entropy, baseline } = point;
    if (!Number.isFinite(entropy - baseline)) {
      throw new Error(
        `Cannot branch: rule ${config.branch.rule} needs a segment's entropy, got ${entropy}: policy ${this.#env.policy.name} does not report what entropy.measure "${config.entropy.measure}" is made of`,
      );
    }
    const situation = { u, entropy, baseline, consecutive };
    const verdict = decideBranch(config.branch, situation);
    return { trajectory: id, round, attempt, ...situation, remaining: this.remaining, ...verdict };
  }

  #entropy(segment: Segment): number {
    const { policy, config } = this.#env;
    return segmentEntropy(segment, policy.tokenizer.vocabSize, config.entropy);
  }

  /** The entropy of what the trajectory is about to write: the same tokens from the same stream, discarded. */
  async #lookAhead(trajectory: LiveTrajectory): Promise<number> {
    const { session, sampling, stops, signal, config } = this.#env;
    const copy = session.fork(trajectory.handle);
    const random = Random.restore(trajectory.random.state());
    const maxTokens = config.entropy.positions;
    const options = { ...sampling, maxTokens, stop: stops, random, signal };
    const segment = await session.generate(copy, options);
    session.close(copy);
    return this.#entropy(segment);
  }

  #fresh(kind: TrajectoryKind, round: number): LiveTrajectory {
    const { prefix, calls = 0 } = this.#start;
    const begun = this.#ahead.take(this.trajectories.length);
    return this.#add({
      kind,
      round,
      parent: -1,
      from: prefix,
      leaf: prefix,
      handle: begun?.handle ?? this.#root.open(),
      length: this.prefixTokens.length,
      calls,
      baseline: undefined,
      consecutive: 0,
      ...(begun ? { random: begun.random, begun: begun.written } : {}),
    });
  }

  #copy(point: BranchPoint, round: number): LiveTrajectory {
    return this.#add({
      kind: "branch",
      round,
      parent: point.trajectory.id,
      from: point.node,
      leaf: point.node,
      handle: this.#env.session.fork(point.handle),
      length: point.length,
      calls: point.calls,
      baseline: this.#env.config.baseline === "ancestor" ? point.baseline : undefined,
      consecutive: point.trajectory.consecutive,
      ...(point.episode ? { episode: point.episode.fork() } : {}),
    });
  }

  #add(
    parts: Omit<
      LiveTrajectory,
      "id" | "random" | "key" | "entropy" | "end" | "outcome" | "split"
    > & {
      random?: Random;
    },
  ): LiveTrajectory {
    const number = this.trajectories.length;
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
    this.trajectories.push(trajectory);
    const { kind, round, parent } = parts;
    this.#env.emit({
      type: "trajectory",
      tree: this.index,
      trajectory: number,
      kind,
      round,
      parent,
    });
    return trajectory;
  }

  #node(kind: LiveNode["kind"], trajectory: LiveTrajectory, round: number): LiveNode {
    return {
      parent: trajectory.leaf,
      kind,
      trajectory: trajectory.id,
      round,
      tokens: new Int32Array(0),
      text: "",
      logprobs: new Float32Array(0),
      entropies: new Float32Array(0),
    };
  }
}

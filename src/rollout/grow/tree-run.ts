import { defined } from "../../../common/options/defined.js";
import type { Sequence } from "../../policy/policy.js";
import { Random } from "../../base/random/random.js";
import type { ToolOutcome } from "../../tools/tool-set.js";
import {
  answerParts,
  callAll,
  type CalledTools,
  classify,
  type EncodedResult,
  encodeResult,
  type SegmentOutcome,
} from "./calls.js";
import type { RolloutState } from "./rollout-state.js";
import type { LiveNode, LiveTrajectory } from "./live-trajectory.js";
import type { Episode } from "./episode.js";
import { entropyOf, TreeBranches } from "./tree-branches.js";
import { plainIn } from "./tree-episodes.js";
import type { TreeStart } from "./tree-start.js";
import { TreeTrajectories } from "./tree-trajectories.js";
import { nodeBefore, resultSpans, textAfter, tokensBegun } from "./split-node.js";
import type { PromptText, RolloutTask } from "../task.js";
import type { TreeEnvironment } from "../tree/tree-data.js";
import type { TrajectoryChoice, TrajectoryEnd } from "../tree/tree-values.js";

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
  /** Where its trajectories branch. */
  readonly branches: TreeBranches;
  readonly #shared: RolloutState;
  readonly #start: TreeStart;
  readonly #trajectories: TreeTrajectories;
  /** Trajectories that ended keep their place in the session, so that others can leave them. */
  retaining = false;
  #retained: Sequence[] = [];
  /** The trajectories that training uses, where the rule says so. */
  selection: number[] | undefined;

  constructor(shared: RolloutState, start: TreeStart) {
    this.#shared = shared;
    this.#start = start;
    this.index = start.index;
    this.prompt = start.prompt;
    this.#trajectories = new TreeTrajectories(shared, start);
    this.branches = new TreeBranches(shared, start, this.#trajectories);
    const { length } = start.prompt.tokens;
    const context = shared.policy.contextLength;
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

  get trajectories(): readonly LiveTrajectory[] {
    return this.#trajectories.list;
  }

  /** Trajectories that may still be made. */
  get remaining(): number {
    return this.#trajectories.remaining;
  }

  /** A sequence of the session that stands where the tree starts. */
  openStart(): Sequence {
    return this.#trajectories.openStart();
  }

  /** The first trajectories: copies of the prompt. */
  start(trajectories: number): LiveTrajectory[] {
    return Array.from({ length: trajectories }, () => this.#trajectories.fresh("initial", 0));
  }

  /** A new root trajectory, when none survived and the budget is not spent. */
  refill(round: number): LiveTrajectory | undefined {
    return this.#trajectories.refill(round);
  }

  /** Lets the trajectory write until a call, its end or `maxTokens`. */
  async generate(trajectory: LiveTrajectory, round: number, maxTokens: number): Promise<LiveNode> {
    const { config, policy, emit } = this.#shared;
    const { segment, start, end } = await this.#trajectories.write(trajectory, maxTokens);
    trajectory.length += segment.tokens.length;
    trajectory.entropy = entropyOf(segment, this.#shared);
    trajectory.baseline ??=
      this.#shared.keepBaselines?.of(trajectory.key, trajectory.entropy) ?? trajectory.entropy;
    const node: LiveNode = {
      ...this.#node("model", trajectory, round),
      tokens: segment.tokens,
      text: config.expand
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
    if (segment.support) node.support = segment.support;
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

  /** Whether a tool takes no arguments. */
  takesNothing(tag: string): boolean {
    return plainIn(this.#shared.tools, this.#start.episodes)(tag);
  }

  /** What the trajectory does after the segment; spends the call. */
  classify(trajectory: LiveTrajectory, node: LiveNode): SegmentOutcome {
    const { config, policy } = this.#shared;
    const outcome = classify({
      segment: node,
      tokens: trajectory.handle.tokens,
      promptLength: this.prompt.tokens.length,
      calls: trajectory.calls,
      callLimit: config.callLimit,
      responseLength: config.responseLength,
      takesNothing: (tag) => this.takesNothing(tag),
      searchPrompt: config.compat.searchPrompt,
      tokenizer: policy.tokenizer,
      format: this.#shared.calls,
      turn: tokensBegun(trajectory.leaf),
      results: resultSpans(trajectory.leaf, this.prompt.tokens.length),
    });
    // A policy that writes nothing where it may write would be asked for ever.
    if (outcome.kind === "keep" && node.tokens.length === 0) return { kind: "end", why: "answer" };
    if (outcome.kind === "call" && outcome.all) trajectory.calls += outcome.all.length;
    else if (outcome.kind === "call" || (outcome.kind === "end" && outcome.why === "bad-call"))
      trajectory.calls++;
    // A turn that the template's format ends has its end token already.
    if (outcome.kind === "end" && outcome.why === "call-limit" && !this.#shared.calls) {
      trajectory.leaf = {
        ...this.#node("end", trajectory, node.round),
        tokens: Int32Array.of(policy.tokenizer.eosId),
      };
      trajectory.length++;
    }
    return outcome;
  }

  /** Asks the tools and adds their answer to the trajectory. False if it does not fit into the context. */
  async call(trajectory: LiveTrajectory, round: number, called: CalledTools): Promise<boolean> {
    const { tools, signal, emit, clock } = this.#shared;
    const { episodes } = this.#start;
    const at = { tree: this.index, trajectory: trajectory.id, round };
    for (const { tag, input } of called.all ?? [called]) emit({ type: "call", ...at, tag, input });
    const start = clock();
    const acting = episodes && {
      tags: episodes.tags,
      call: (tag: string, input: string) =>
        (trajectory.episode ??= episodes.after(trajectory.leaf)).call(tag, input, signal),
    };
    const outcomes = await callAll(called, tools, acting, signal);
    for (const outcome of outcomes) emit({ type: "result", ...at, outcome });
    return this.answer(trajectory, round, outcomes, start);
  }

  /** Adds the answer of a turn's calls to the trajectory. The node of the last call has its tokens. */
  answer(
    trajectory: LiveTrajectory,
    round: number,
    outcomes: readonly ToolOutcome[],
    start: number,
  ): boolean {
    const { session, policy, config, calls } = this.#shared;
    const capacity = policy.contextLength - trajectory.handle.tokens.length;
    const wanted = Math.max(0, config.responseLength - trajectory.length) + spareTokens;
    const { resultBegin } = config.compat;
    const most = Math.min(capacity, wanted);
    const block = encodeResult(answerParts(calls, outcomes), policy.tokenizer, resultBegin, most);
    const fits = block.whole || wanted < capacity;
    for (const [i, outcome] of outcomes.entries()) {
      const isLast = i === outcomes.length - 1;
      this.#result(trajectory, round, outcome, fits && isLast ? block : undefined, start);
    }
    if (fits) {
      session.append(trajectory.handle, block.tokens);
      trajectory.length += block.tokens.length;
    }
    return fits;
  }

  #result(
    trajectory: LiveTrajectory,
    round: number,
    outcome: ToolOutcome,
    block: Pick<EncodedResult, "tokens" | "text"> | undefined,
    start: number,
  ): void {
    const { tag, input, text, ok, failure, retries, ms, reward, details } = outcome;
    const node: LiveNode = {
      ...this.#node("tool", trajectory, round),
      tokens: Int32Array.from(block?.tokens ?? []),
      text: block?.text ?? "",
      tool: { tag, input, text, ok, retries },
      run: { start, end: this.#shared.clock(), toolMs: ms },
    };
    if (failure) node.tool!.failure = failure;
    if (reward !== undefined) node.tool!.reward = reward;
    if (details) node.run!.details = details;
    trajectory.leaf = node;
  }

  /** Ends the trajectory, or says that it continues. */
  survives(trajectory: LiveTrajectory, outcome: SegmentOutcome, fits: boolean): boolean {
    let end: TrajectoryEnd | undefined;
    if (outcome.kind === "end") end = outcome.why;
    else if (!fits) end = "context";
    else if (trajectory.episode?.done) end = "done";
    else if (trajectory.length >= this.#shared.config.responseLength) end = "length";
    if (end === undefined) return true;
    this.end(trajectory, end);
    return false;
  }

  /** The trajectory writes no more. */
  end(trajectory: LiveTrajectory, end: TrajectoryEnd): void {
    trajectory.end = end;
    if (this.retaining) this.#retained.push(trajectory.handle);
    else this.#shared.session.close(trajectory.handle);
    this.#trajectories.endEpisode(trajectory, end);
    this.#shared.emit({ type: "end", tree: this.index, trajectory: trajectory.id, end });
  }

  /** No trajectory will be left any more: those that ended give their memory back, now and from now on. */
  release(): void {
    for (const handle of this.#retained) this.#shared.session.close(handle);
    this.#retained = [];
    this.retaining = false;
  }

  /** A new trajectory that keeps the first `at` tokens of a trajectory's response and writes on from there. */
  leave(trajectory: LiveTrajectory, at: number, chosen: TrajectoryChoice): LiveTrajectory {
    const { session, policy, config } = this.#shared;
    const { tokenizer } = policy;
    const { node, whole } = nodeBefore(trajectory, at, { tokenizer, entropy: config.entropy });
    const handle = session.fork(trajectory.handle);
    if (at < trajectory.length) session.truncate(handle, this.prompt.tokens.length + at);
    let calls = 0;
    for (let n = node; n; n = n.parent) if (n.kind === "tool") calls++;
    return this.#trajectories.add({
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

  /** Gives the prompt's own session sequence back; the tree is complete. */
  close(): void {
    this.release();
    this.#trajectories.close();
  }

  /** Waits until every trajectory's environment has said what the trajectory was worth, and is gone. */
  async settle(): Promise<void> {
    await this.outcomes();
    await this.#start.episodes?.dispose();
  }

  /** Waits until every environment has said what the trajectories that ended were worth. */
  async outcomes(): Promise<void> {
    await this.#trajectories.outcomes();
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

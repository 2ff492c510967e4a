import {
  checkOptions,
  fromTo,
  integer,
  milliseconds,
  oneOf,
  type OptionRules,
} from "../../../common/options/check-options.js";
import { defined } from "../../../common/options/defined.js";
import { Semaphore } from "../../base/concurrency/semaphore.js";
import type { EpisodeScore } from "../../environments/environment.js";
import type { Policy } from "../../policy/policies.js";
import { Random } from "../../base/random/random.js";
import { branchOf, decideBranch } from "../../rollout/rules/decide-branch.js";
import { segmentEntropy } from "../../rollout/branch/segment-entropy.js";
import { readyOptions, rolloutConfig } from "../../rollout/config.js";
import { type RolloutOptions, rolloutRules } from "../../rollout/options.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { RolloutConfig } from "../../rollout/settings.js";
import type { BranchPoint } from "./call-replay.js";
import { CaptureServer } from "./capture-server.js";
import type { Captured } from "./capture-session.js";
import { type CaptureTask, type LinkedCall, segmentOf } from "./captured-call.js";

type Branching = Pick<
  RolloutOptions,
  | "preset"
  | "n"
  | "initialRollouts"
  | "rule"
  | "branchProbability"
  | "entropyWeight"
  | "threshold"
  | "penaltySlope"
  | "entropy"
  | "seed"
  | "signal"
>;

/** What a run of a program is about. */
export interface HarnessRun<T extends CaptureTask> {
  task: T;
  /** Aborted when the run takes too long or the rollout is stopped: the program should end. */
  signal: AbortSignal;
}

/** What a run was worth; nothing where a reward function scores the trees afterwards. */
export type RunReward = number | EpisodeScore | undefined;

/** How a program is rolled out: how it is run, and how it branches, as in `rollout`. */
export interface HarnessOptions<T extends CaptureTask = CaptureTask> extends Branching {
  /**
   * Runs the program once, with these environment variables, and gives what the run was worth. It is called
   * again for every branch and must then ask the same: give it a fresh folder.
   */
  run: (
    env: Record<string, string>,
    about: HarnessRun<T>,
  ) => RunReward | Promise<RunReward> | Promise<void>;
  /** `replay`: branches run the program again, answered from the record. `none`: n runs. Default `replay`. */
  branch?: "replay" | "none";
  /** Branches leave at the beginning of a call (`call`), or at its most uncertain token. Default `call`. */
  from?: "call" | "token";
  /** Of every call, whatever the program asks for. Default 1. */
  temperature?: number;
  /** How long one run may take. Default 600,000. */
  timeoutMs?: number;
  /** Runs at the same time. Default 4. */
  atOnce?: number;
  /** Calls that one run may make. Default 256. */
  maxCalls?: number;
  /** Told of each branch that was refused because the program asked something else. */
  onRefused?: (reason: string) => void;
}

const { preset, n, initialRollouts, rule, branchProbability, entropyWeight } = rolloutRules;
const { threshold, penaltySlope, entropy, seed, signal } = rolloutRules;
const rules: OptionRules<HarnessOptions> = {
  ...{ preset, n, initialRollouts, rule, branchProbability, entropyWeight },
  ...{ threshold, penaltySlope, entropy, seed, signal },
  run: "function",
  branch: oneOf(["replay", "none"]),
  from: oneOf(["call", "token"]),
  temperature: fromTo(0, 100),
  timeoutMs: milliseconds,
  atOnce: integer(1),
  maxCalls: integer(1),
  onRefused: "function?",
};

/** A run that is to be made: from the start, or from a point of another. */
interface Start {
  from?: { captured: Captured; at: Required<BranchPoint> };
}

/** One task's runs. */
class TaskRuns<T extends CaptureTask> {
  readonly #kept: Captured[] = [];
  #tried = 0;

  constructor(
    readonly server: CaptureServer,
    readonly task: T,
    readonly group: string,
    readonly random: Random,
    readonly config: RolloutConfig,
    readonly options: HarnessOptions<T>,
    readonly semaphore: Semaphore,
    readonly vocabSize: number,
  ) {}

  /** Runs the program until there are n trajectories, or twice as many runs were tried. */
  async grow(): Promise<void> {
    const { n, initialRollouts } = this.config;
    const replays = (this.options.branch ?? "replay") === "replay";
    let wave = await this.#runAll(
      Array.from({ length: replays ? initialRollouts : n }, () => ({})),
    );
    while (this.#kept.length < n && this.#tried < 2 * n) {
      const left = n - this.#kept.length;
      const points = replays ? wave.flatMap((captured) => this.#pointsOf(captured)) : [];
      wave = await this.#runAll(points.slice(0, left));
      // No run branched, or none could: another one from the start, as rollouts do.
      if (wave.length === 0 && this.#tried < 2 * n) wave = await this.#runAll([{}]);
    }
    if (this.#kept.length > 0) return;
    throw new Error(
      `Cannot roll out task ${this.group}: the program must ask at OPENAI_BASE_URL with OPENAI_API_KEY, got no answered call in ${this.#tried} runs`,
    );
  }

  async #runAll(starts: readonly Start[]): Promise<Captured[]> {
    const made = starts.map((start) =>
      this.semaphore.run(() => this.#run(start), this.options.signal),
    );
    this.#tried += starts.length;
    // Nothing runs on unseen where one run fails.
    await Promise.allSettled(made);
    const found = (await Promise.all(made)).flatMap((one) => one ?? []);
    this.#kept.push(...found);
    return found;
  }

  /** One run; nothing where the program did not repeat what it is to branch from, or asked nothing. */
  async #run({ from }: Start): Promise<Captured | undefined> {
    const { timeoutMs = 600_000, run, onRefused } = this.options;
    const { server, task, group } = this;
    const session = server.session({
      ...{ task, group },
      ...(from ? { replay: from.captured, at: from.at } : {}),
    });
    const late = AbortSignal.timeout(timeoutMs);
    const ends = [late, ...(this.options.signal ? [this.options.signal] : [])];
    const either = AbortSignal.any(ends);
    const ended = new Promise<never>((_, reject) => {
      either.addEventListener("abort", () => reject(either.reason as Error), { once: true });
    });
    ended.catch(() => undefined);
    let reward: number | EpisodeScore | undefined;
    try {
      const running = Promise.resolve(run(session.env, { task, signal: either }));
      running.catch(() => undefined); // Seen below, unless it comes too late.
      reward = (await Promise.race([running, ended])) ?? undefined;
    } catch (error) {
      this.options.signal?.throwIfAborted();
      const said = late.aborted
        ? `it took longer than ${timeoutMs / 1000} s`
        : error instanceof Error
          ? error.message
          : String(error);
      reward = { score: 0, reason: `the program failed: ${said.replaceAll(session.key, "KEY")}` };
    }
    const captured = await server.end(session, reward);
    if (captured.refused !== undefined) onRefused?.(captured.refused);
    if (captured.refused === undefined && captured.trees.length > 0) return captured;
    server.delete(session);
    return undefined;
  }

  /** Where a run branches: after a call, as the rule decides by its entropy. */
  #pointsOf(captured: Captured): Start[] {
    const { config, options } = this;
    const { calls, branch } = captured;
    const entropyOf = (call: LinkedCall) =>
      segmentEntropy(segmentOf(call), this.vocabSize, config.entropy);
    const atToken = options.from === "token";
    return calls.flatMap((call): Start[] => {
      const { id, parent, rewrite, retriedBy, cut, tokens } = call;
      const isTurn = parent >= 0 && rewrite === undefined;
      if (cut !== undefined || retriedBy !== undefined || !(isTurn || atToken)) return [];
      if (tokens.length === 0 || (branch && id <= branch.call)) return [];
      const root = calls[call.root]!;
      const situation = {
        u: this.random.split(captured.id).split(id).uniform(),
        entropy: entropyOf(isTurn ? calls[parent]! : call),
        baseline: entropyOf(root),
        consecutive: 0,
      };
      if (!decideBranch(branchOf(config), situation).branch) return [];
      const token = atToken ? mostUncertain(call) : 0;
      return [{ from: { captured, at: { call: id, token } } }];
    });
  }
}

/** The place of a call's most uncertain token. */
function mostUncertain({ entropies }: LinkedCall): number {
  let best = 0;
  for (let i = 1; i < entropies.length; i++) if (entropies[i]! > entropies[best]!) best = i;
  return best;
}

/**
 * Rolls out a program that asks at an endpoint like OpenAI's, in any language: it is run for each task, and run
 * again for each branch. A run that branches is answered from the record as long as its prompts are the recorded
 * ones; from the chosen token on it is sampled. Where a prompt differs, the branch is refused with both texts.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { HfTokenizer, Model } from "arpo-lab/model";
 * import { trainBpe } from "arpo-lab/experimental/formats";
 * import { Policy } from "arpo-lab/policy";
 * import { harnessRollout } from "arpo-lab/experimental/capture";
 *
 * // Usually: await Policy.load("data/models/tiny"). Here, a small model that has learnt nothing.
 * const tokenizer = new HfTokenizer(trainBpe(["low lower lowest"], { vocabSize: 270 }));
 * const sizes = { hiddenSize: 16, intermediateSize: 32, layers: 1, heads: 2, kvHeads: 1 };
 * const policy = Policy.fromModel(Model.init({ ...sizes, vocabSize: tokenizer.vocabSize }, 7), tokenizer);
 *
 * // Usually: spawn("python", ["agent.py"], { env: { ...process.env, ...env } }), and wait for its end.
 * const run = async (env: Record<string, string>) => {
 *   const response = await fetch(`${env.OPENAI_BASE_URL}/chat/completions`, {
 *     method: "POST",
 *     headers: { "content-type": "application/json", authorization: `Bearer ${env.OPENAI_API_KEY}` },
 *     body: JSON.stringify({
 *       model: "any",
 *       messages: [{ role: "user", content: "low" }],
 *       max_tokens: 6,
 *     }),
 *   });
 *   return (await response.json()).choices[0].message.content.length;
 * };
 * const options = { n: 4, initialRollouts: 2, branchProbability: 1 };
 * const [tree] = await harnessRollout(policy, { id: "low" }, { run, from: "token", ...options });
 * assert.equal(tree.trajectories.length, 4);
 * assert.equal(tree.trajectories.filter(({ kind }) => kind === "branch").length, 2);
 * policy.dispose();
 * ```
 */
export async function harnessRollout<T extends CaptureTask>(
  policy: Policy,
  tasks: T | readonly T[],
  options: HarnessOptions<T>,
): Promise<RolloutTree[]> {
  checkOptions("roll out a program", options, rules);
  const list = (Array.isArray(tasks) ? tasks : [tasks]) as readonly T[];
  const groups = list.map(({ id }, i) => id ?? String(i));
  const twice = groups.find((group, i) => groups.indexOf(group) !== i);
  if (twice !== undefined) {
    throw new RangeError(
      `Cannot roll out a program: each task must have an id of its own, got ${twice} again`,
    );
  }
  const { preset, n, initialRollouts, rule, branchProbability, entropyWeight } = options;
  const {
    threshold,
    penaltySlope,
    entropy,
    seed = 0,
    temperature = 1,
    maxCalls,
    atOnce = 4,
  } = options;
  const config = rolloutConfig(
    readyOptions("roll out a program", {
      ...defined({ preset, n, initialRollouts, rule, branchProbability, entropyWeight }),
      ...defined({ threshold, penaltySlope, entropy }),
      seed,
    }),
  );
  if (config.expand) {
    throw new RangeError(
      `Cannot roll out a program: rule must be one that branches between calls, got ${config.rule}`,
    );
  }
  const runs = 4 * config.n * list.length;
  const server = await CaptureServer.start(policy, {
    ...{ seed, temperature, maxSessions: runs },
    ...defined({ maxCalls }),
  });
  try {
    const semaphore = new Semaphore(atOnce);
    const random = Random.from(seed).split("harness");
    for (const [i, task] of list.entries()) {
      const own = random.split(i);
      const { vocabSize } = policy.tokenizer;
      await new TaskRuns(
        server,
        task,
        groups[i]!,
        own,
        config,
        options,
        semaphore,
        vocabSize,
      ).grow();
    }
    return server.trees();
  } finally {
    await server.stop();
  }
}

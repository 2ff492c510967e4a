import { truncate } from "#platform/files";
import { sha256Of } from "#platform/sha256";
import { checkArguments, shown } from "../../../common/options/check-arguments.js";
import { checkOptions, integer, type OptionRules } from "../../../common/options/check-options.js";
import { defined } from "../../../common/options/defined.js";
import { appendDurably, writeDurably } from "../../../common/files/durable.js";
import { readIfThere } from "../../base/files/read-if-there.js";
import type { Model } from "../../model/transformer/transformer.js";
import type { Policy } from "../../policy/policy.js";
import type { Reward } from "../../reward/reward-function.js";
import type { ScorableTask } from "../../reward/score-trees.js";
import { type AnswerOptions, answerRules, type RolloutOptions } from "../../rollout/options.js";
import { rolloutConfig } from "../../rollout/config.js";
import { runningCell } from "../../base/show/running-cell.js";
import { ProgressLine } from "../../base/show/progress-line.js";
import { watchAs } from "../../base/show/show-as.js";
import { ToolSet, toolSetOf, type ToolOutcome } from "../../tools/tool-set.js";
import { BranchValues } from "./branch-values.js";
import { labelOf, measurePrompt } from "./measure-prompt.js";
import {
  headLine,
  readValues,
  recordLine,
  type ValueRecord,
  type ValueSettings,
} from "./value-record.js";

/** How far a measurement is. */
export interface ValueProgress {
  /** Prompts that are done, those of an earlier run included, and all. */
  done: number;
  total: number;
}

/** How branch values are measured. */
export interface BranchValueOptions extends AnswerOptions {
  /** Forks of each state. Variance needs 8, decided variance 16. Default 16. */
  K?: number;
  /** Tokens that are this likely together do not change the state. Default 0.99; 1: every token is a state. */
  sure?: number;
  /** Trajectories of each prompt; the first is measured, the others are what a group knows. Default 8. */
  group?: number;
  /** Default: as `score`. */
  reward?: Reward;
  /** A policy that has been trained on since: rules that look ahead do so with it. Default: none. */
  current?: Policy;
  /**
   * The file that takes each prompt's values as soon as they are measured. Called again with the
   * same settings, the measurement resumes, and the file has the same bytes as if it had never
   * stopped. Default: nothing is written.
   */
  into?: string;
  /** Ask a tool again what it has answered before. Default: its answer is remembered. */
  askAgain?: boolean;
  /** Called after each prompt. Default: none. */
  onProgress?: (progress: ValueProgress) => void;
}

const rules: OptionRules<BranchValueOptions> = {
  ...answerRules,
  K: integer(2),
  sure: {
    must: "a number above 0 and at most 1",
    holds: (x) => typeof x === "number" && x > 0 && x <= 1,
    number: true,
  },
  group: integer(1),
  reward: "reward?",
  current: "policy?",
  into: "path?",
  askAgain: "boolean?",
  onProgress: "function?",
};

/**
 * Measures what a branch would be worth at every token: for each task one trajectory of the policy, and K
 * forks of it from every state. `values.worth()` judges rules by them, `values.decided()` says where
 * outcomes are decided.
 *
 * Abort `signal`, or interrupt the cell, to end it early: it returns what is complete.
 *
 * @param policy the policy whose forks are measured
 * @param tasks the tasks; each gives one trajectory
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { branchValues } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 * import { calculator } from "arpo-lab/tools";
 *
 * const tasks = [{ prompt: "a" }, { prompt: "b" }, { prompt: "c" }];
 * const reward = ({ toolCalls }: { toolCalls: readonly unknown[] }) => Number(toolCalls.length > 1);
 * const values = await branchValues(randomTextPolicy(), tasks, { tools: [calculator()], K: 8, reward });
 * const [uniform, after] = values.worth(["uniform", "after-results"], { per: "call" });
 * assert.equal(uniform.ratio, 1);
 * assert.ok(after.callsLeft! >= 0);
 * ```
 */
export async function branchValues(
  policy: Policy,
  tasks: readonly ScorableTask[],
  options: BranchValueOptions = {},
): Promise<BranchValues> {
  const action = "measure branch values";
  checkArguments(action, { policy, tasks }, { policy: "policy", tasks: "list" });
  if (tasks.length === 0)
    throw new RangeError(`Cannot ${action}: tasks must have at least one task, got none`);
  checkOptions(action, options, rules);
  const {
    K = 16,
    sure = 0.99,
    group = 8,
    reward,
    current,
    into,
    onProgress,
    askAgain,
    ...own
  } = options;
  const tools = own.tools && toolSetOf(action, own.tools);
  const asked = tools && !askAgain ? new RememberingTools(tools) : tools;
  const signal = eitherOf(own.signal, runningCell()?.signal);
  const how: RolloutOptions = {
    ...own,
    ...defined({ tools: asked, signal }),
    ...{ n: group, initialRollouts: group, beamSize: 1, keepTop: true },
  };
  const { seed, callLimit, responseLength, sampling, tools: tags } = rolloutConfig(how);
  if (sampling.temperature === 0) {
    throw new RangeError(
      "Cannot measure branch values: sampling.temperature must be above 0, got 0: greedy forks do not differ",
    );
  }
  const settings: ValueSettings = {
    policy: policy.name,
    ...(into === undefined
      ? {}
      : defined({ weights: weightsOf(policy), currentWeights: current && weightsOf(current) })),
    ...{ K, sure, group, seed, tools: tags, callLimit, responseLength, sampling: { ...sampling } },
    reward: rewardName(reward),
  };
  const file = into === undefined ? undefined : await openFile(into, settings, tasks);
  const records: ValueRecord[] = [...(file?.records ?? [])];
  const total = tasks.length;
  const now = () => new BranchValues(settings, records.slice(0, total));
  const live = watchAs("Work", { after: "this prompt" });
  const line = new ProgressLine();
  const step = () => {
    const done = Math.min(records.length, total);
    onProgress?.({ done, total });
    live?.tell?.(line.count("measuring branch values", done, total), { share: done / total });
  };
  try {
    step();
    for (
      let index = records.length;
      index < total && !signal?.aborted && !live?.stopping;
      index++
    ) {
      let record: ValueRecord;
      try {
        record = await measurePrompt(policy, tasks[index]!, {
          rollout: { ...how, firstIndex: index },
          ...{ K, sure },
          ...defined({ reward, current }),
        });
      } catch (error) {
        if (signal?.aborted) break;
        throw error;
      }
      if (into !== undefined) await appendDurably(into, recordLine(record));
      records.push(record);
      step();
    }
  } finally {
    live?.done();
  }
  return now();
}

const eitherOf = (a: AbortSignal | undefined, b: AbortSignal | undefined) =>
  a && b ? AbortSignal.any([a, b]) : (a ?? b);

function rewardName(reward: Reward | undefined): string {
  if (reward === undefined) return "default";
  return typeof reward === "function" ? reward.name || "a function" : "a group reward";
}

/** Tells a policy's weights from others; undefined where they are not in this process. */
function weightsOf(policy: Policy): string | undefined {
  const { model } = policy as { model?: Model };
  if (!model) return undefined;
  const hash = sha256Of();
  for (const [name, weight] of model.weights) {
    const { buffer, byteOffset, byteLength } = weight.dataSync();
    hash.update(name);
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  }
  return hash.hex().slice(0, 16);
}

/** What a file holds of a measurement; cut back to whole lines, begun where there is none. */
async function openFile(
  path: string,
  settings: ValueSettings,
  tasks: readonly ScorableTask[],
): Promise<{ records: ValueRecord[] }> {
  const text = await readIfThere(path).catch((error: unknown) => {
    throw new Error(
      `Cannot measure branch values: into must be a file, got ${path} (${(error as NodeJS.ErrnoException).code})`,
      { cause: error },
    );
  });
  const known = text === undefined ? undefined : readValues(text, path);
  if (!known) {
    await writeDurably(path, headLine(settings));
    return { records: [] };
  }
  const wrong = (must: string, got: string) =>
    new RangeError(`Cannot measure branch values: ${path} must be ${must}, got ${got}`);
  for (const [name, value] of Object.entries(settings)) {
    const [then, asked] = [known.settings[name as keyof ValueSettings], value].map((one) =>
      JSON.stringify(one),
    );
    if (then === asked) continue;
    if (name.toLowerCase().endsWith("weights")) {
      // Files from before there was a fingerprint have none.
      if (then === undefined) continue;
      throw wrong(
        `of ${name === "weights" ? "the policy" : "current"} as it is now`,
        "one of other weights: it has been trained since, so take another file",
      );
    }
    throw wrong(`of ${name} ${asked}`, `one of ${name} ${then}`);
  }
  for (const [i, { task }] of known.records.entries()) {
    const asked = tasks[i];
    if (!asked) break;
    if (task !== labelOf(asked, i))
      throw wrong(`of these tasks, in order`, `task ${shown(task)} at ${i}`);
  }
  await truncate(path, known.bytes);
  return { records: known.records };
}

/** Tools that give an answer they have given before: forks of one state then stand in one world. */
class RememberingTools extends ToolSet {
  readonly #inner: ToolSet;
  readonly #answers = new Map<string, Promise<ToolOutcome>>();

  constructor(inner: ToolSet) {
    const { callLimit, maxWorkers, timeoutMs, retryCount } = inner;
    super(inner, { callLimit, maxWorkers, timeoutMs, retryCount });
    this.#inner = inner;
  }

  override call(
    tag: string,
    input: string,
    options?: { signal?: AbortSignal; transcript?: readonly string[] },
  ): Promise<ToolOutcome> {
    const key = JSON.stringify([tag, input]);
    const known = this.#answers.get(key);
    if (known) return known;
    const answer = this.#inner.call(tag, input, options);
    this.#answers.set(key, answer);
    const forget = () => this.#answers.delete(key);
    answer.then((outcome) => outcome.ok || forget(), forget);
    return answer;
  }
}

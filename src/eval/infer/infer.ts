import { checkArguments } from "../../arguments/check-arguments.js";
import { checkOptions, integer, type OptionRules } from "../../arguments/check-options.js";
import { expectManyListeners } from "#platform/many-listeners";
import type { Policy } from "../../policy/policy.js";
import { Random } from "../../random/random.js";
import { Semaphore } from "../../concurrency/semaphore.js";
import { ToolSet, type Tools, toolSetOf } from "../../tools/tool-set.js";
import type { LoadedBenchmark } from "../benchmarks/benchmark.js";
import { inferSample } from "./infer-sample.js";
import { sampleKey, type SampleJournal } from "./journal.js";
import { rolloutRules } from "../../rollout/option-rules.js";
import { inferenceRules, inferenceSettings, type InferenceOptions } from "./options.js";
import { systemMessage } from "./prompts.js";
import type { Sample } from "./sample.js";

/** An inference over whole benchmarks. */
export interface InferOptions extends InferenceOptions {
  /** The tools a policy may call. Default: none. */
  tools?: Tools;
  /** Samples per question (`turns`). Default 1. */
  samples?: number;
  /** Questions of each benchmark, from the first (`counts`). Default: all. */
  questions?: number;
  /** Samples at the same time (`max_concurrent_requests`). Default 50. */
  concurrency?: number;
  /** Holds what is finished already, which is not made again, and takes what gets finished. */
  journal?: SampleJournal;
  onSample?: (sample: Sample, done: number, total: number) => void;
  signal?: AbortSignal;
}

export const inferRules: OptionRules<InferOptions> = {
  ...inferenceRules,
  tools: rolloutRules.tools,
  samples: integer(1),
  questions: integer(0),
  concurrency: integer(1),
  journal: "object?",
  onSample: "function?",
  signal: "signal?",
};

/** After so many samples that could not be made, and none that could, going on makes no sense. */
const hopeless = 8;

/** The prompt type a benchmark's questions are asked with. */
export const promptFor = (benchmark: LoadedBenchmark["benchmark"], given?: string) =>
  given ?? benchmark.prompt ?? "code_search";

/** How a benchmark's questions are asked, complete. */
export const settingsFor = (benchmark: LoadedBenchmark["benchmark"], options: InferenceOptions) =>
  inferenceSettings({ ...options, sampling: { ...benchmark.sampling, ...options.sampling } });

/**
 * Answers the questions of benchmarks, several times each if asked to. What a sample is depends on the
 * seed, the benchmark, the question and the turn, never on what else runs or was finished before.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { benchmarks } from "arpo-lab/run";
 * import { infer } from "arpo-lab/experimental/evaluation";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 *
 * const policy = new ScriptedPolicy(() => ({ text: "<answer>\\boxed{97}</answer>" }));
 * const sums = await benchmarks.load("math-lookalike");
 * const [first] = await infer(policy, [sums], { questions: 1 });
 * assert.equal(first.prediction, "97");
 * assert.equal(first.status, "answered");
 * ```
 */
export async function infer(
  policy: Policy,
  loaded: readonly LoadedBenchmark[],
  options: InferOptions = {},
): Promise<Sample[]> {
  checkArguments("infer", { policy, loaded }, { policy: "policy", loaded: "list" });
  checkOptions("evaluate", options, inferRules);
  const { samples = 1, concurrency = 50, journal, onSample } = options;
  const tools = options.tools ? toolSetOf("infer", options.tools) : new ToolSet();
  const { seed } = inferenceSettings(options);
  const jobs = loaded.flatMap((set) => {
    const { benchmark } = set;
    systemMessage(promptFor(benchmark, options.prompt)); // an unknown type is told now
    const settings = settingsFor(benchmark, options);
    const items = set.items.slice(0, options.questions);
    return Array.from({ length: samples }, (_, i) => i + 1).flatMap((turn) =>
      items.map((item) => ({ benchmark, settings, item, turn })),
    );
  });
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  expectManyListeners(signal); // Every running sample listens.
  const semaphore = new Semaphore(concurrency);
  const random = Random.from(seed).split("evaluation");
  const session = policy.session();
  let [done, made, failed] = [0, 0, 0];
  let failure: { reason: unknown } | undefined;

  const answer = async ({ benchmark, settings, item, turn }: (typeof jobs)[number]) => {
    const { name } = benchmark;
    const known = journal?.samples.get(sampleKey({ benchmark: name, turn, index: item.index }));
    if (known && known.status !== "error") return known;
    const sample = await semaphore.run(
      () =>
        inferSample({
          policy,
          session,
          tools,
          settings,
          prompt: promptFor(benchmark, options.prompt),
          benchmark: name,
          item,
          turn,
          random: random.split(name).split(turn).split(item.index),
          signal,
        }),
      signal,
    );
    await journal?.add(sample);
    if (sample.status === "error") failed++;
    else made++;
    if (made === 0 && failed >= Math.min(hopeless, jobs.length)) {
      throw new Error(
        `Cannot evaluate: ${policy.name} must answer, got nothing but failures (${failed}), the last: ${sample.error}`,
      );
    }
    return sample;
  };
  try {
    const answers = await Promise.all(
      jobs.map(async (job) => {
        try {
          const sample = await answer(job);
          onSample?.(sample, ++done, jobs.length);
          return sample;
        } catch (reason) {
          // The first failure stops the others at once.
          failure ??= { reason };
          stop.abort(reason);
          return undefined;
        }
      }),
    );
    if (failure) throw failure.reason;
    return answers.map((sample) => sample!);
  } finally {
    session.dispose();
  }
}

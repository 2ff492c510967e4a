import { expectManyListeners } from "#platform/process";
import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  integer,
  type OptionRules,
  valuesOf,
} from "../../../common/options/check-options.js";
import {
  completed,
  type Given,
  option,
  rulesOf,
  unset,
} from "../../../common/options/option-table.js";
import { defined } from "../../../common/options/defined.js";
import { Semaphore } from "../../base/concurrency/semaphore.js";
import type { Policy, Session } from "../../policy/policy.js";
import { Random } from "../../base/random/random.js";
import { writtenOutput } from "../../base/text/authored-text.js";
import { extractAnswer } from "../../reward/answers/extract-answer.js";
import { rolloutRules } from "../../rollout/options.js";
import { ToolWatch } from "../../rollout/watch-tools.js";
import { callContent } from "../../base/text/call-input.js";
import { ToolSet, toolSetOf } from "../../tools/tool-set.js";
import type { BenchmarkItem, LoadedBenchmark } from "../benchmarks/benchmark.js";
import { Conversation } from "./conversation.js";
import { type SampleJournal, sampleKey } from "./journal.js";
import {
  type InferenceOptions,
  type InferenceSettings,
  inferenceSettings,
  inferenceTable,
} from "./options.js";
import { promptMessages, systemMessage } from "./prompts.js";
import { type Sample, type SampleStatus, searchedBefore, tooMany } from "./sample.js";

/** What answering one question takes. */
interface SampleParts {
  policy: Policy;
  session: Session;
  tools: ToolSet;
  watch: ToolWatch | undefined;
  settings: InferenceSettings;
  prompt: string;
  benchmark: string;
  item: BenchmarkItem;
  turn: number;
  random: Random;
  signal: AbortSignal;
}

/** Calls made so far, by tag, and what they took. */
interface Calls {
  counts: Map<string, number>;
  ms: Map<string, number>;
  /** Searches that were made, for telling a repetition; only the completion mode keeps them. */
  searched: Set<string>;
}

/** Goes on until an answer, a rule or the context ends it. */
async function converse(parts: SampleParts, talk: Conversation, calls: Calls): Promise<void> {
  const { tools, settings, signal, watch } = parts;
  for (;;) {
    const text = await talk.write({ stops: true });
    if (text === "" || talk.full) return;
    const tag = tools.tags.find((candidate) => text.includes(`</${candidate}>`));
    const count = tag === undefined ? 0 : (calls.counts.get(tag) ?? 0);
    const mayCall = tag !== undefined && count < (settings.limits[tag] ?? tools.callLimit);
    if (settings.mode === "default" && !mayCall) {
      // One last generation, with nothing that stops it, unless the answer is already there.
      if (!text.trimEnd().endsWith("</answer>")) await talk.write({ stops: false });
      return;
    }
    if (tag === undefined) return;
    const input = callContent(text, tag);
    const ruled = { tag, input, ok: true, retries: 0 };
    if (!mayCall) {
      talk.insert({ ...ruled, text: tooMany(tag) }, "limit");
    } else if (calls.searched.has(input) && tag === "search") {
      talk.insert({ ...ruled, text: searchedBefore }, "repeated");
    } else {
      watch?.see({ type: "call", tag });
      const outcome = await tools.call(tag, input, { signal, transcript: talk.logs });
      watch?.see({ type: "result", outcome });
      talk.insert(outcome);
      calls.counts.set(tag, count + 1);
      calls.ms.set(tag, (calls.ms.get(tag) ?? 0) + outcome.ms);
      if (tag === "search" && settings.mode === "completion") calls.searched.add(input);
    }
    if (talk.full) return;
  }
}

/**
 * Answers one question once. It rejects only when the caller's own signal is aborted; a model that
 * cannot be asked is a sample with the status `error`, which says nothing about the model.
 */
async function inferSample(parts: SampleParts): Promise<Sample> {
  const { policy, session, item, settings, tools, signal } = parts;
  signal.throwIfAborted();
  const began = performance.now();
  const messages = promptMessages(parts.prompt, item.question);
  const clock = new AbortController();
  const late = new Error(`no answer within ${settings.timeoutMs / 1000} s`);
  const timer = setTimeout(() => {
    clock.abort(late);
  }, settings.timeoutMs);
  const calls: Calls = { counts: new Map(), ms: new Map(), searched: new Set() };
  let talk: Conversation | undefined;
  let status: SampleStatus | undefined;
  let error: string | undefined;
  try {
    const both = AbortSignal.any([signal, clock.signal]);
    expectManyListeners(both);
    talk = new Conversation({
      policy,
      session,
      messages,
      settings,
      tags: tools.tags,
      random: parts.random,
      signal: both,
    });
    await converse({ ...parts, signal: both }, talk, calls);
  } catch (reason) {
    signal.throwIfAborted();
    status = clock.signal.aborted ? "timeout" : "error";
    if (status === "error") error = reason instanceof Error ? reason.message : String(reason);
  } finally {
    clearTimeout(timer);
    talk?.close();
  }
  const written = talk?.output ?? "";
  const { asReference } = parts.settings;
  const own = asReference ? written : writtenOutput({ output: written, steps: talk?.steps ?? [] });
  status ??= own.includes("</answer>") ? "answered" : talk?.full ? "context" : "unanswered";
  const timedOut = status === "timeout";
  const seconds = (ms: number) => Math.round(ms) / 1000;
  const toolMs = (wanted: (tag: string) => boolean) =>
    [...calls.ms].reduce((sum, [tag, ms]) => (wanted(tag) ? sum + ms : sum), 0);
  const steps = talk?.steps ?? [];
  return {
    benchmark: parts.benchmark,
    index: item.index,
    turn: parts.turn,
    instruction: messages.length > 1 ? messages[0]!.content : "",
    input: item.question,
    output: timedOut ? `${written}\n[Timeout (exceeding ${settings.timeoutMs / 1000}s)]` : written,
    prediction: timedOut ? "Timeout" : status === "error" ? "" : extractAnswer(own),
    answer: item.answer,
    logs: talk?.logs ?? [],
    search_query_history: [...calls.searched],
    timing: {
      llm_time: seconds(talk?.modelMs ?? 0),
      python_time: seconds(calls.ms.get("python") ?? 0),
      search_time: seconds(calls.ms.get("search") ?? 0),
      other_tool_time: seconds(toolMs((tag) => tag !== "python" && tag !== "search")),
      total_time: seconds(performance.now() - began),
    },
    status,
    ...defined({ error }),
    failed_tool_calls: steps.filter((step) => step.kind === "result" && !step.tool.ok).length,
    prompt_tokens: talk?.promptTokens ?? [],
    steps,
  };
}

/** What an inference can be told besides how questions are asked. */
export const samplesTable = {
  /** The tools a policy may call. Default: none. */
  tools: unset(rolloutRules.tools),
  /** Samples per question (`turns`). Default 1. */
  samples: option(integer(1), 1),
  /** Questions of each benchmark, from the first (`counts`). Default: all. */
  questions: unset(integer(0)),
  /** Samples at the same time (`max_concurrent_requests`). Default 50. */
  concurrency: option(integer(1), 50),
  /**
   * Called with each sample as soon as it is finished, how many are, and how many there will be.
   * Default: none.
   */
  onSample: unset(valuesOf<(sample: Sample, done: number, total: number) => void>("function?")),
  /** Stops the evaluation with an error; finished samples stay in the journal. Default: none. */
  signal: unset(valuesOf<AbortSignal>("signal?")),
  /** Print nothing: neither tools that failed, nor that a call is waited for or none was made. Default: false. */
  quiet: option(rolloutRules.quiet, false),
};

/** An inference over whole benchmarks. */
export interface InferOptions extends InferenceOptions, Given<typeof samplesTable> {
  /** Holds what is finished already, which is not made again, and takes what gets finished. */
  journal?: SampleJournal;
  /** Once it is aborted, samples under way are given up, and those that are finished are what there is. */
  enough?: AbortSignal;
}

export const inferRules: OptionRules<InferOptions> = {
  ...rulesOf(inferenceTable),
  ...rulesOf(samplesTable),
  journal: "object?",
  enough: "signal?",
};

/** After so many samples that could not be made, and none that could, going on makes no sense. */
const hopeless = 8;

/** The prompt type a benchmark's questions are asked with. */
export const promptFor = (benchmark: LoadedBenchmark["benchmark"], given?: string) =>
  given ?? benchmark.prompt ?? "code_search";

/** How a benchmark's questions are asked, complete. */
export const settingsFor = (benchmark: LoadedBenchmark["benchmark"], options: InferenceOptions) =>
  inferenceSettings({
    ...options,
    sampling: { ...benchmark.sampling, ...defined({ ...options.sampling }) },
  });

/** What tells a person of tools that fail or are waited for; none where there are no tools. */
function watchOf({ tags, timeoutMs }: ToolSet, responseLength: number): ToolWatch | undefined {
  if (tags.length === 0) return undefined;
  const uncalled = "does the prompt say that there are tools? prompt: TEXT does";
  return new ToolWatch({ tags, timeoutMs, responseLength, uncalled });
}

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
  const { journal, onSample } = options;
  const { samples, concurrency, quiet } = completed(samplesTable, options, {});
  const tools = options.tools ? toolSetOf("infer", options.tools) : new ToolSet();
  const { seed, maxTokens } = inferenceSettings(options);
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
  const { enough } = options;
  const signal = AbortSignal.any([stop.signal, options.signal, enough].flatMap((one) => one ?? []));
  expectManyListeners(signal); // Every running sample listens.
  const semaphore = new Semaphore(concurrency);
  const random = Random.from(seed).split("evaluation");
  const session = policy.session();
  const watch = quiet ? undefined : watchOf(tools, maxTokens);
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
          watch,
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
    watch?.see({ type: "end", end: "answer" });
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
          if (enough?.aborted && !options.signal?.aborted) return undefined;
          // The first failure stops the others at once.
          failure ??= { reason };
          stop.abort(reason);
          return undefined;
        }
      }),
    );
    if (failure) throw failure.reason;
    return answers.flatMap((sample) => sample ?? []);
  } finally {
    watch?.end();
    session.dispose();
  }
}

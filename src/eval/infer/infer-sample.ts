import { expectManyListeners } from "#platform/many-listeners";
import { defined } from "../../arguments/defined.js";
import type { Policy, Session } from "../../policy/policy.js";
import type { Random } from "../../random/random.js";
import type { ToolSet } from "../../tools/tool-set.js";
import type { BenchmarkItem } from "../benchmarks/benchmark.js";
import { extractAnswer } from "../../reward/extract-answer.js";
import { Conversation } from "./conversation.js";
import type { InferenceSettings } from "./options.js";
import { promptMessages } from "./prompts.js";
import { searchedBefore, tooMany } from "./refusals.js";
import type { Sample, SampleStatus } from "./sample.js";
import { callContent } from "../../text/call-input.js";

/** What answering one question takes. */
export interface SampleParts {
  policy: Policy;
  session: Session;
  tools: ToolSet;
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
  const { tools, settings, signal } = parts;
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
      const outcome = await tools.call(tag, input, { signal, transcript: talk.logs });
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
export async function inferSample(parts: SampleParts): Promise<Sample> {
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
  status ??= written.includes("</answer>") ? "answered" : talk?.full ? "context" : "unanswered";
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
    prediction: timedOut ? "Timeout" : status === "error" ? "" : extractAnswer(written),
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

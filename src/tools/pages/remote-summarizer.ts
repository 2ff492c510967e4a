import { isResult } from "../../base/text/result-block.js";
import {
  checkOptions,
  integer,
  optionsFor,
  type OptionRules,
  rulesWithout,
} from "../../../common/options/check-options.js";
import { z } from "#zod";
import { Endpoints } from "../../base/http/endpoints.js";
import { samplingRules } from "../../policy/check-generate.js";
import { endpointRules, type EndpointOptions } from "../../base/http/endpoint-options.js";
import { finalMarker, type DeepSearchOptions, type Passage } from "./deep-search.js";

export interface SummarizerOptions extends Omit<EndpointOptions, "doing" | "onFault"> {
  /** The model's name at the endpoints; the reference's scripts use Qwen2.5-72B-Instruct. */
  model: string;
  /** Default 0.6. */
  temperature?: number;
  /** Default 0.95. */
  topP?: number;
  /** Default 4,096. */
  maxTokens?: number;
}

const rules: OptionRules<SummarizerOptions> = {
  ...rulesWithout(endpointRules, "doing", "onFault"),
  model: "text",
  temperature: samplingRules.temperature,
  topP: samplingRules.topP,
  maxTokens: integer(1),
};

const reply = z.looseObject({
  choices: z.array(z.looseObject({ message: z.looseObject({ content: z.string() }) })).min(1),
});

/**
 * Earlier steps, shortened where there are more than five: the first, the last four, and every search
 * with its result; what is left out is marked.
 */
export function shortenedSteps(transcript: readonly string[]): string {
  const steps = transcript.map((text, i) => `Step ${i + 1}: ${text.trim()}`);
  if (steps.length <= 5) return steps.join("\n\n");
  // A page that shows the tag is no search.
  const searches = (i: number) =>
    transcript[i] !== undefined && !isResult(transcript[i]) && transcript[i].includes("<search>");
  const kept = (i: number) =>
    i === 0 ||
    i >= steps.length - 4 ||
    searches(i) ||
    (isResult(transcript[i]!) && searches(i - 1));
  const lines = steps.map((step, i) => (kept(i) ? step : "..."));
  return lines.filter((line, i) => line !== "..." || lines[i - 1] !== "...").join("\n\n");
}

function promptOf(query: string, passages: readonly Passage[], transcript: readonly string[]) {
  const pages = passages.map(
    (passage, i) => `**Web page ${i + 1}:**\n${JSON.stringify(passage, undefined, 2)}`,
  );
  return [
    "Read the web pages below and pick out what helps with the search query, so that the reasoning so far can go on from it.",
    "- Look at every page. Take only what bears on the query and helps the reasoning; leave the rest.",
    "- State nothing that the pages do not say. If they say nothing useful, say so.",
    `- Begin the useful part with a line that reads ${finalMarker}, and write nothing after that part.`,
    `**Reasoning so far:**\n${shortenedSteps(transcript) || "(none)"}`,
    `**Search query:**\n${query}`,
    pages.join("\n\n"),
  ].join("\n\n");
}

/**
 * A summariser for `deepSearchTool` behind OpenAI-compatible chat endpoints: it is given the passages,
 * the query, and the reasoning that led to it.
 */
export function remoteSummarizer(
  options: SummarizerOptions,
): NonNullable<DeepSearchOptions["summarize"]> {
  checkOptions("ask the summariser", options, rules);
  const { model, temperature = 0.6, topP = 0.95, maxTokens = 4096 } = options;
  const endpoints = new Endpoints({
    attempts: 3,
    ...optionsFor<EndpointOptions>(endpointRules, options),
    doing: "ask the summariser",
  });
  return async (query, passages, signal, transcript) => {
    const body = {
      model,
      messages: [{ role: "user", content: promptOf(query, passages, transcript) }],
      temperature,
      top_p: topP,
      max_tokens: maxTokens,
    };
    const read = (answer: unknown): string => {
      const completion = reply.safeParse(answer);
      if (completion.success) return completion.data.choices[0]!.message.content;
      throw new TypeError(`no chat completion: ${z.prettifyError(completion.error)}`);
    };
    return endpoints.post("chat/completions", body, { signal, read });
  };
}

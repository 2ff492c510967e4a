import type { FinishReason } from "../../policy/policy.js";
import type { ToolFailure } from "../../tools/tool-set.js";
import type { BenchmarkItem } from "../benchmarks/benchmark.js";

/** A span of a transcript that the model wrote. */
export interface WrittenStep {
  kind: "model";
  text: string;
  tokens: number[];
  /** ln p of each token when it was sampled, and the entropy there; null where nobody knows. */
  logprobs: (number | null)[];
  entropies: (number | null)[];
  finish: FinishReason;
  /** The stop string that ended it. */
  stop?: string;
}

/** A result block: a tool's answer, or a rule's. */
export interface ResultStep {
  kind: "result";
  text: string;
  tokens: number[];
  tool: {
    tag: string;
    input: string;
    /** What stands in the block. */
    text: string;
    ok: boolean;
    failure?: ToolFailure;
    retries: number;
  };
  /** Why no tool was asked: too many calls, or a query that was there before. */
  rule?: "limit" | "repeated";
}

export type Step = WrittenStep | ResultStep;

/**
 * How a sample ended: with an answer block; without one; because the time was over; because nothing
 * more fits into the model's context; or because the model could not be asked (`error`), which says
 * nothing about the model.
 */
export type SampleStatus = "answered" | "unanswered" | "timeout" | "context" | "error";

/** Seconds spent, in the reference's keys. */
interface SampleTiming {
  llm_time: number;
  python_time: number;
  search_time: number;
  /** Tools other than those two. */
  other_tool_time: number;
  total_time: number;
}

/** One answer to one question, in the reference's keys and a few more. */
export interface Sample {
  benchmark: string;
  /** The question's place in its file, and which of the samples for it this is, from 1. */
  index: number;
  turn: number;
  /** The system message. */
  instruction: string;
  input: string;
  output: string;
  prediction: string;
  answer: BenchmarkItem["answer"];
  /** What was written and what came back, in turn. */
  logs: string[];
  search_query_history: string[];
  timing: SampleTiming;
  status: SampleStatus;
  /** What went wrong, where the status is `error`. */
  error?: string;
  /** Result blocks whose tool failed: a matter of the machinery, not of the model. */
  failed_tool_calls: number;
  /** The prompt's tokens and everything after it. */
  prompt_tokens: number[];
  steps: Step[];
}

/** What the model reads instead of a result when it called a tool too often. */
export const tooMany = (tag: string): string =>
  tag === "search"
    ? "The maximum search limit is exceeded. You are not allowed to search."
    : `The maximum ${tag} call limit is exceeded. You are not allowed to use ${tag}.`;

/** What it reads when it searches for the same again. */
export const searchedBefore = "You have searched this query. Please refer to previous results.";

/** The rule behind what stands in a result block; undefined where a tool answered. */
export function ruleOf(tag: string, found: string): ResultStep["rule"] {
  if (found === tooMany(tag)) return "limit";
  return tag === "search" && found === searchedBefore ? "repeated" : undefined;
}

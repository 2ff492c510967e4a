import { blocks } from "../../text/blocks.js";
import { strip } from "../../text/python-text.js";
import { type AnswerMetrics, mathMetrics, numericMetrics, qaMetrics } from "./answer-metrics.js";

/** How many blocks of a tag are opened and closed, from left to right. */
export function countBlocks(text: string, tag: string): number {
  return [...blocks(text, `<${tag}>`, `</${tag}>`)].length;
}

/** A text without the blocks of a tag. */
function without(text: string, tag: string): string {
  let [out, at] = ["", 0];
  for (const { from, to } of blocks(text, `<${tag}>`, `</${tag}>`)) {
    out += text.slice(at, from);
    at = to;
  }
  return out + text.slice(at);
}

/** Characters of a transcript without its result blocks. */
export function outputLength(transcript: string): number {
  const own = without(without(transcript, "r"), "result");
  return [...strip(own)].length;
}

/** One finished inference, in the reference's keys. */
export interface OutputItem {
  input: string;
  answer: unknown;
  prediction?: unknown;
  output?: string;
}

/** What the evaluation says of one item, in the reference's keys. */
export interface ItemMetrics extends AnswerMetrics {
  is_valid_answer: boolean;
  python_calls: number;
  search_calls: number;
  tools_used: "both" | "python" | "search" | "none";
  tool_counts: number;
  output_length: number;
  /** The judge's verdict, where a judge was asked. */
  llm_equal?: number;
}

/**
 * How answers are compared: as expressions, as the reference does (`math`); as numbers and sets by their
 * value (`math-numeric`); by their words (`qa`).
 */
export const taskTypes = ["math", "math-numeric", "qa"] as const;
export type TaskType = (typeof taskTypes)[number];

const compare = { math: mathMetrics, "math-numeric": numericMetrics, qa: qaMetrics };

/** What is compared and judged: the prediction, or the last five lines of the output for want of one. */
export function comparedPrediction<T>({ prediction, output }: { prediction: T; output?: string }) {
  const none = Array.isArray(prediction) && prediction.length === 0;
  if (prediction && !none) return prediction;
  return strip((output ?? "").replaceAll("\n\n", "\n"))
    .split("\n")
    .slice(-5)
    .join("\n");
}

/** Evaluates one item without a judge. */
export function evaluateItem(item: OutputItem, task: TaskType): ItemMetrics {
  const { output = "" } = item;
  const prediction = comparedPrediction({ prediction: item.prediction, output });
  if (!prediction) {
    return {
      is_valid_answer: false,
      em: 0,
      acc: 0,
      f1: 0,
      math_equal: 0,
      llm_equal: 0,
      python_calls: 0,
      search_calls: 0,
      tools_used: "none",
      tool_counts: 0,
      output_length: 0,
    };
  }
  const python = countBlocks(output, "python");
  const search = countBlocks(output, "search");
  return {
    is_valid_answer: true,
    python_calls: python,
    search_calls: search,
    tools_used: python && search ? "both" : python ? "python" : search ? "search" : "none",
    tool_counts: python + search,
    output_length: outputLength(output),
    ...compare[task](prediction, item.answer),
  };
}

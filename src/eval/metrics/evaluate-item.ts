import { writtenOutput } from "../../base/text/authored-text.js";
import { blocks } from "../../base/text/result-block.js";
import { strip } from "../../base/text/python-text.js";
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
  /** Who wrote what of the output; without it the whole output is read, as the reference does. */
  steps?: readonly { kind: "model" | "result"; text: string }[];
}

/** What the metrics read of an output. */
const readOutput = ({ output = "", steps = [] }: Pick<OutputItem, "output" | "steps">) =>
  steps.length > 0 ? writtenOutput({ output, steps }) : output;

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

/** What is compared and judged: the prediction, or the last five lines that the model wrote for want of one. */
export function comparedPrediction<T>({
  prediction,
  ...item
}: { prediction: T } & Pick<OutputItem, "output" | "steps">) {
  const none = Array.isArray(prediction) && prediction.length === 0;
  if (prediction && !none) return prediction;
  return strip(readOutput(item).replaceAll("\n\n", "\n")).split("\n").slice(-5).join("\n");
}

/** Evaluates one item without a judge. */
export function evaluateItem(item: OutputItem, task: TaskType): ItemMetrics {
  const prediction = comparedPrediction({ ...item, prediction: item.prediction });
  const output = readOutput(item);
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

/** The figures of a whole benchmark, in the reference's keys. */
export interface MeanMetrics {
  em: number;
  acc: number;
  f1: number;
  math_equal: number;
  llm_equal: number;
  /** "k of N". */
  num_valid_answer: string;
  /** 100 x accuracy x calls / (calls + sigma). */
  tool_productivity: number;
  m1m2: number;
  /** Share of items with at least one call. */
  average_datas_used_tool_number: number;
  tool_call: number;
  average_python_calls: number;
  average_search_calls: number;
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, v) => sum + v, 0) / values.length;
}

/**
 * The means over a benchmark's items. Accuracy is the judge's where one was asked, else `math_equal`
 * for mathematics and `f1` for questions.
 */
export function meanMetrics(
  items: readonly ItemMetrics[],
  options: { task: TaskType; judged?: boolean; sigma?: number },
): MeanMetrics {
  const { task, judged = false, sigma = 0.1 } = options;
  const over = (pick: (item: ItemMetrics) => number) => mean(items.map(pick));
  const verdicts = items.flatMap(({ llm_equal }) => (llm_equal === undefined ? [] : [llm_equal]));
  const own = over((item) => (task === "qa" ? item.f1 : item.math_equal));
  const accuracy = judged && verdicts.length > 0 ? mean(verdicts) : own;
  const calls = over((item) => item.tool_counts);
  const productivity = ((accuracy * calls) / (calls + sigma)) * 100;
  return {
    em: over((item) => item.em),
    acc: over((item) => item.acc),
    f1: over((item) => item.f1),
    math_equal: over((item) => item.math_equal),
    llm_equal: mean(verdicts),
    num_valid_answer: `${items.filter((item) => item.is_valid_answer).length} of ${items.length}`,
    tool_productivity: productivity,
    m1m2: productivity,
    average_datas_used_tool_number: over((item) => Number(item.tool_counts > 0)),
    tool_call: calls,
    average_python_calls: over((item) => item.python_calls),
    average_search_calls: over((item) => item.search_calls),
  };
}

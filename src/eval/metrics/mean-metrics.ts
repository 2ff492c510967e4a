import type { ItemMetrics, TaskType } from "./evaluate-item.js";

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

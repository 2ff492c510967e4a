import {
  countBlocks,
  evaluateItem,
  meanMetrics,
  type OutputItem,
  outputLength,
} from "../../../src/eval/metrics/evaluate-item.js";
import { extractAnswer } from "../../../src/reward/answers/extract-answer.js";
import { judgeVerdict } from "../../../src/eval/metrics/judge-verdict.js";
import {
  mathMetrics,
  normalizeForEvaluation,
  qaMetrics,
} from "../../../src/eval/metrics/answer-metrics.js";
import { passAtK } from "../../../src/eval/metrics/pass-at-k.js";
import type { Runners } from "../runner.js";

export const runners: Runners = {
  eval_extract_answer: ({ text }) => ({ prediction: extractAnswer(text) }),
  eval_judge_parse: ({ judge_reply, prediction, labeled_answer }) => ({
    correct: judgeVerdict(judge_reply, prediction, labeled_answer),
  }),
  eval_metrics: ({ task, prediction, reference, text }) => {
    if (task === "normalize") {
      return {
        plain: normalizeForEvaluation(text),
        no_articles: normalizeForEvaluation(text, { articles: false }),
        no_articles_no_punct: normalizeForEvaluation(text, { articles: false, punctuation: false }),
      };
    }
    return task === "math" ? mathMetrics(prediction, reference) : qaMetrics(prediction, reference);
  },
  eval_overall: ({ task, items, sigma }) => {
    const perItem = (items as OutputItem[]).map((item) => evaluateItem(item, task));
    return { per_item: perItem, overall: meanMetrics(perItem, { task, sigma }) };
  },
  eval_tool_statistics: ({ output }) => ({
    python_calls: countBlocks(output, "python"),
    search_calls: countBlocks(output, "search"),
    output_length: outputLength(output),
  }),
  pass_at_k: ({ n, correct, k }) => ({ pass_at_k: passAtK({ n, correct, k }) }),
};

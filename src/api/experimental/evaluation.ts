/** The published evaluation code, piece by piece. Experimental: may change in any release. */

export {
  qaMetrics,
  mathMetrics,
  numericMetrics,
  type AnswerMetrics,
} from "../../eval/metrics/answer-metrics.js";
export {
  evaluateItem,
  type ItemMetrics,
  type OutputItem,
  taskTypes,
  type TaskType,
} from "../../eval/metrics/evaluate-item.js";
export { judgeVerdict } from "../../eval/metrics/judge-verdict.js";
export { normalizeForEvaluation } from "../../eval/metrics/answer-metrics.js";
export { published } from "../../eval/benchmarks/benchmarks.js";
export type { PublishedFigure } from "../../eval/benchmarks/published.js";
export { isRight, type ScoredSample } from "../../eval/report/score-samples.js";
export {
  evaluateEnvironment,
  type EnvironmentEvaluation,
} from "../../eval/environment/evaluate-environment.js";
export { evaluateOutputs } from "../../eval/evaluate-outputs.js";
export { infer, type InferOptions } from "../../eval/infer/infer.js";
export type { Sample } from "../../eval/infer/sample.js";
export { SampleJournal } from "../../eval/infer/journal.js";
export { promptMessages, promptTypes, type PromptType } from "../../eval/infer/prompts.js";
export { documentedSampling } from "../../eval/infer/options.js";
export { judgePrompt } from "../../eval/judge/judge-prompt.js";
export { questionTree } from "../../view/evaluation/question-tree.js";
export { type BenchmarkReport, byQuestion } from "../../eval/report/benchmark-report.js";

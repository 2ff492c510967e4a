export type { Benchmark, BenchmarkItem, LoadedBenchmark } from "./benchmarks/benchmark.js";
export { benchmarks } from "./benchmarks/benchmarks.js";
export { readBenchmark } from "./benchmarks/read-benchmark.js";
export {
  evaluateItem,
  type ItemMetrics,
  type OutputItem,
  taskTypes,
  type TaskType,
} from "./metrics/evaluate-item.js";
export {
  evaluateEnvironment,
  type EnvironmentEvaluation,
  type EnvironmentEvaluationOptions,
} from "./environment/evaluate-environment.js";
export { evaluate, type Evaluable, type EvaluateOptions } from "./evaluate.js";
export { evaluateOutputs, type OutputsOptions } from "./evaluate-outputs.js";
export { extractAnswer } from "../reward/extract-answer.js";
export { infer, type InferOptions } from "./infer/infer.js";
export { SampleJournal } from "./infer/journal.js";
export { documentedSampling, type InferenceOptions } from "./infer/options.js";
export { promptMessages, promptTypes, type PromptType } from "./infer/prompts.js";
export type {
  ResultStep,
  Sample,
  SampleStatus,
  SampleTiming,
  Step,
  WrittenStep,
} from "./infer/sample.js";
export { trimGeneration } from "./infer/trim.js";
export { meanInterval, type Interval } from "./metrics/interval.js";
export { judgeVerdict } from "./metrics/judge-verdict.js";
export {
  mathMetrics,
  numericMetrics,
  qaMetrics,
  type AnswerMetrics,
} from "./metrics/answer-metrics.js";
export { normalizeForEvaluation } from "./metrics/normalize.js";
export { passAtK } from "./metrics/pass-at-k.js";
export { published, type PublishedFigure } from "./metrics/published.js";
export type { BesidePublished } from "./report/beside-published.js";
export { byQuestion, type BenchmarkReport, type ToolUse } from "./report/benchmark-report.js";
export { Evaluation } from "./report/evaluation.js";
export type { EvaluationSettings } from "./report/evaluation-settings.js";
export { columnsOf, comparisonOf, faultsOf, madeBy } from "./report/evaluation-text.js";
export type { AnswerJudge, JudgeVerdict } from "./report/judge-slot.js";
export { isRight, wasMade, type ScoredSample } from "./report/score-samples.js";
export { meanMetrics, type MeanMetrics } from "./metrics/mean-metrics.js";
export { countBlocks, outputLength } from "./metrics/tool-statistics.js";
export {
  judgePrompt,
  LlmJudge,
  type JudgeCost,
  type JudgeFault,
  type Judgement,
  type JudgeQuestion,
  type LlmJudgeOptions,
  type TokenPrice,
} from "./judge/index.js";

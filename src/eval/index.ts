export { evaluateItem, type ItemMetrics, type OutputItem, type TaskType } from "./evaluate-item.js";
export { extractAnswer } from "./extract-answer.js";
export { judgeVerdict } from "./judge-verdict.js";
export { mathMetrics, qaMetrics, type AnswerMetrics } from "./metrics.js";
export { normalizeForEvaluation } from "./normalize.js";
export { passAtK } from "./pass-at-k.js";
export { summarize, type Summary } from "./summarize.js";
export { countBlocks, outputLength } from "./tool-statistics.js";

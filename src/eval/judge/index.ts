export type { JudgeCost, TokenPrice } from "./judge-cost.js";
export type { JudgeFault } from "./judge-fault.js";
export { judgePrompt, type JudgeQuestion } from "./judge-prompt.js";
export { LlmJudge, type Judgement, type LlmJudgeOptions } from "./llm-judge.js";

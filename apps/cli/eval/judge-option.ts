import { join } from "node:path";
import { LlmJudge } from "../../../src/eval/judge/llm-judge.js";

export interface JudgeOptions {
  judge?: string[];
  judgeModel: string;
  judgeKeyEnv?: string;
}

/** The judge, if one is asked for; its verdicts are kept in a folder. */
export function judgeOf(options: JudgeOptions, folder: string): LlmJudge | undefined {
  const { judge, judgeModel, judgeKeyEnv } = options;
  if (judge === undefined) return undefined;
  return new LlmJudge({
    urls: judge,
    model: judgeModel,
    cacheFile: join(folder, "verdicts.jsonl"),
    apiKeyEnv: judgeKeyEnv,
  });
}

/** What judging took, in words. */
export function costOf(judge: LlmJudge): string {
  const { questions, equivalent, cached, requests, promptTokens, completionTokens } = judge.cost();
  return `judge: ${questions} questions, ${equivalent} equal anyway, ${cached} known, ${requests} requests, ${promptTokens} + ${completionTokens} tokens`;
}

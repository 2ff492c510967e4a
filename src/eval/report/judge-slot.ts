import type { JudgeQuestion } from "../judge/judge-prompt.js";

/** What a judge said. */
export interface JudgeVerdict {
  correct: boolean;
  /** Its own words. */
  reply?: string;
  /** Why it could not be asked; `correct` is then whether the strings are equivalent. */
  failure?: string;
}

/** Says whether predictions are right, one verdict per question, in order: an `LlmJudge`, or your own. */
export interface AnswerJudge {
  readonly name: string;
  judge(
    questions: readonly JudgeQuestion[],
    options?: { signal?: AbortSignal },
  ): Promise<JudgeVerdict[]>;
}

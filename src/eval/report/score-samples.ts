import { checkArguments } from "../../../common/options/check-arguments.js";
import { defined } from "../../../common/options/defined.js";
import type { Benchmark } from "../benchmarks/benchmark.js";
import type { Sample } from "../infer/sample.js";
import type { JudgeQuestion } from "../judge/judge-prompt.js";
import { comparedPrediction, evaluateItem, type ItemMetrics } from "../metrics/evaluate-item.js";

/** What a judge said. */
interface JudgeVerdict {
  correct: boolean;
  /** Its own words. */
  reply?: string;
  /** Why it could not be asked; `correct` is then whether the strings are equivalent. */
  failure?: string;
}

/** Says whether predictions are right, one verdict per question, in order: an `LlmJudge`, or your own. */
export interface AnswerJudge {
  readonly name: string;
  /** @param questions questions with the answer to judge and the reference */
  judge(
    questions: readonly JudgeQuestion[],
    options?: {
      /** Stops the judging with an error. Default: none. */
      signal?: AbortSignal;
    },
  ): Promise<JudgeVerdict[]>;
}

/** A sample with what the evaluation says of it. */
export interface ScoredSample extends Sample {
  metrics: ItemMetrics & { llm_response?: string };
  /** Why the judge could not be asked about it. */
  judge_error?: string;
}

/**
 * Whether a sample counts as right for pass@k: the judge's verdict, or equal expressions.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { evaluate } from "arpo-lab/run";
 * import { isRight } from "arpo-lab/experimental/evaluation";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 *
 * const policy = new ScriptedPolicy(() => ({ text: "<answer>\\boxed{520}</answer>" }));
 * const { samples } = await evaluate(policy, "aime24-lookalike");
 * assert.deepEqual(samples.filter(isRight).map(({ prediction }) => prediction), ["520"]);
 * ```
 */
export function isRight(sample: ScoredSample): boolean {
  checkArguments("look at a sample", { sample }, { sample: { metrics: "object" } });
  const { llm_equal: judged, math_equal: equal } = sample.metrics;
  return (judged ?? equal) > 0;
}

/** Whether a sample says something about the model: it could be asked. */
export function wasMade(sample: Sample): boolean {
  return sample.status !== "error";
}

/** Evaluates the samples of one benchmark, asking the judge about every prediction there is. */
export async function scoreSamples(
  benchmark: Benchmark,
  samples: readonly Sample[],
  options: { judge?: AnswerJudge; signal?: AbortSignal } = {},
): Promise<ScoredSample[]> {
  const { judge, signal } = options;
  const scored = samples.map((sample): ScoredSample => ({
    ...sample,
    metrics: evaluateItem(sample, benchmark.task),
  }));
  if (!judge) return scored;
  const asked = scored.filter((sample) => wasMade(sample) && sample.metrics.is_valid_answer);
  const verdicts = await judge.judge(
    asked.map((sample) => ({
      ...{ question: sample.input, answer: sample.answer },
      prediction: comparedPrediction(sample),
    })),
    { signal },
  );
  if (verdicts.length !== asked.length) {
    throw new RangeError(
      `Cannot evaluate: the judge must give ${asked.length} verdicts, got ${verdicts.length}`,
    );
  }
  const said = new Map<ScoredSample, JudgeVerdict>(asked.map((s, i) => [s, verdicts[i]!]));
  return scored.map((sample) => {
    const verdict = said.get(sample);
    if (!verdict) return { ...sample, metrics: { ...sample.metrics, llm_equal: 0 } };
    const { correct, reply, failure } = verdict;
    return {
      ...sample,
      metrics: {
        ...sample.metrics,
        llm_equal: Number(correct),
        ...defined({ llm_response: reply }),
      },
      ...defined({ judge_error: failure }),
    };
  });
}

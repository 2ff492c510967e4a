import type { Benchmark } from "../benchmarks/benchmark.js";
import { comparedPrediction, evaluateItem, type ItemMetrics } from "../evaluate-item.js";
import type { Sample } from "../infer/sample.js";
import type { AnswerJudge, JudgeVerdict } from "./judge-slot.js";

/** A sample with what the evaluation says of it. */
export interface ScoredSample extends Sample {
  metrics: ItemMetrics & { llm_response?: string };
  /** Why the judge could not be asked about it. */
  judge_error?: string;
}

/** Whether a sample counts as right for pass@k: the judge's verdict, or equal expressions. */
export const isRight = ({ metrics }: ScoredSample) => (metrics.llm_equal ?? metrics.math_equal) > 0;

/** Whether a sample says something about the model: it could be asked. */
export const wasMade = ({ status }: Sample) => status !== "error";

/** Evaluates the samples of one benchmark, asking the judge about every prediction there is. */
export async function scoreSamples(
  benchmark: Benchmark,
  samples: readonly Sample[],
  { judge, signal }: { judge?: AnswerJudge; signal?: AbortSignal } = {},
): Promise<ScoredSample[]> {
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
        ...(reply === undefined ? {} : { llm_response: reply }),
      },
      ...(failure === undefined ? {} : { judge_error: failure }),
    };
  });
}

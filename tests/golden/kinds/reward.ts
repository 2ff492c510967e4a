import { checkFormat, deepResearch } from "../../../src/reward/rewards/deep-research.js";
import { normalizeAnswer, tokenF1 } from "../../../src/reward/answers/qa-em.js";
import { exactMatch } from "../../../src/reward/rewards/exact-match.js";
import { substringMatch } from "../../../src/reward/rewards/substring-match.js";
import { lastBoxed, lastBoxedOrTail, unboxed } from "../../../src/reward/answers/extract-answer.js";
import { math } from "../../../src/reward/rewards/math.js";
import { mathEquivalent, normalizeMath } from "../../../src/reward/answers/math-equivalence.js";
import type { Runners } from "../runner.js";

/** The cases name Python's exceptions; ours are the same failures by other names. */
const pythonNames: Record<string, string> = {
  TypeError: "TypeError",
  SyntaxError: "AssertionError",
  RangeError: "IndexError",
};

function attempt<T>(run: () => T): T | { error: string } {
  try {
    return run();
  } catch (error) {
    const { name } = error as Error;
    return { error: pythonNames[name] ?? name };
  }
}

export const runners: Runners = {
  boxed_extraction: ({ text }) => ({
    last_boxed_training: lastBoxed(text) ?? null,
    removed_training: attempt(() => unboxed(lastBoxed(text))),
    last_boxed_evaluation: lastBoxedOrTail(text),
  }),
  reward_f1: ({ prediction, ground_truth }) => ({
    normalized_prediction: normalizeAnswer(prediction),
    normalized_ground_truth: normalizeAnswer(ground_truth),
    f1: tokenF1(prediction, ground_truth),
  }),
  math_equivalence: ({ a, b }) => ({
    equivalent: mathEquivalent(a, b),
    normalized_a: a === null ? null : attempt(() => normalizeMath(a)),
    normalized_b: b === null ? null : attempt(() => normalizeMath(b)),
  }),
  reward_math: ({ response, ground_truth }) => ({
    score: math({ response, groundTruth: ground_truth, asReference: true }).score,
  }),
  reward_qa_em: ({ solution, target }) => ({
    em: exactMatch({ response: solution, groundTruth: target, asReference: true }).score,
    sub_em: substringMatch({ response: solution, groundTruth: target, asReference: true }).score,
  }),
  reward_deep_research: ({ response, ground_truth, eos_token }) => {
    const format = checkFormat(response);
    const judged = { response, groundTruth: ground_truth, eosToken: eos_token };
    const result = deepResearch({ ...judged, asReference: true });
    return {
      format_valid: format.valid,
      format_reason: format.reason,
      score: result.score,
      f1_score: result.parts?.["f1_score"],
      answer: result.answer,
      reason_kind: result.reason.split(":")[0],
    };
  },
};

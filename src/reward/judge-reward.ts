import { checkArguments } from "../../common/options/check-arguments.js";
import { checkOptions, finite, type OptionRules } from "../../common/options/check-options.js";
import { extractAnswer } from "./answers/extract-answer.js";
import type { JudgedTrajectory } from "./judged-trajectory.js";
import {
  asScore,
  type GroupReward,
  groupReward,
  groupScores,
  isGroupReward,
  type Reward,
  type RewardContext,
  type RewardFunction,
} from "./reward-function.js";
import { responseOf, type Score } from "./score.js";

/** Says whether predictions are right, one verdict per question, in order: an `LlmJudge`, or your own. */
interface AskedJudge {
  judge(
    questions: readonly { question: string; answer: unknown; prediction: string }[],
    options?: { signal?: AbortSignal },
  ): Promise<readonly { correct: boolean; reply?: string; failure?: string }[]>;
}

export interface JudgeRewardOptions {
  /** What the judge is asked about. Default: what stands in the answer block, or the last box. */
  prediction?: (judged: JudgedTrajectory) => string;
  /** What a right answer earns. Default: 1. */
  right?: number;
  /** What a wrong one earns. Default: 0. */
  wrong?: number;
  /** What an answer earns that the judge gave no verdict on. Default: scoring stops and says why. */
  unjudged?: number;
}

const rules: OptionRules<JudgeRewardOptions> = {
  prediction: "function?",
  right: finite,
  wrong: finite,
  unjudged: finite,
};

/**
 * Trains with a judge: a trajectory earns `right` where the judge takes its answer for the ground truth. The
 * trajectories of a prompt are asked about together, so that equal answers are asked about once. An empty
 * answer is wrong without being asked about; a judge that fails is never a wrong answer.
 *
 * @param judge the judge to ask
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { judgeReward, score } from "arpo-lab/learn";
 * import { rollout } from "arpo-lab/rollout";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 *
 * // Usually: new LlmJudge({ urls: "http://localhost:8004/v1", model: "Qwen2.5-72B-Instruct" }).
 * const judge = {
 *   judge: async (questions: readonly { prediction: string }[]) =>
 *     questions.map(({ prediction }) => ({ correct: /paris/i.test(prediction), reply: "I looked." })),
 * };
 * const policy = new ScriptedPolicy(() => ({ text: "<answer>It is Paris</answer>\u0001" }));
 * const task = { prompt: "The capital of France?", groundTruth: "Paris" };
 * const { trajectories } = await score(await rollout(policy, task, { n: 2 }), judgeReward(judge));
 * assert.deepEqual([trajectories[0].score.score, trajectories[0].score.reason], [1, "I looked."]);
 * ```
 */
export function judgeReward(judge: AskedJudge, options: JudgeRewardOptions = {}): GroupReward {
  if (typeof judge?.judge !== "function") {
    throw new TypeError(
      `Cannot make a reward of a judge: it must have a method judge(questions), got ${judge === null ? "null" : typeof judge}`,
    );
  }
  checkOptions("make a reward of a judge", options, rules);
  const { prediction = (judged) => extractAnswer(responseOf(judged)) } = options;
  const { right = 1, wrong = 0, unjudged } = options;
  return groupReward(async (judged, { signal }) => {
    const answers = judged.map(prediction);
    const asked = judged.flatMap(({ prompt, groundTruth }, trajectory) =>
      answers[trajectory] === ""
        ? []
        : [
            {
              row: trajectory,
              question: prompt.question,
              answer: groundTruth,
              prediction: answers[trajectory]!,
            },
          ],
    );
    const scores: Score[] = answers.map((answer) => ({
      score: wrong,
      reason: "no answer to judge",
      answer,
    }));
    if (asked.length === 0) return scores;
    const verdicts = await judge.judge(
      asked.map(({ question, answer, prediction: given }) => ({
        ...{ question, answer, prediction: given },
      })),
      { signal },
    );
    if (verdicts.length !== asked.length) {
      throw new RangeError(`the judge must give ${asked.length} verdicts, got ${verdicts.length}`);
    }
    asked.forEach(({ row: trajectory, prediction: answer }, i) => {
      const { correct, reply = "", failure } = verdicts[i]!;
      if (failure === undefined) {
        scores[trajectory] = { score: correct ? right : wrong, reason: reply, answer };
        if (reply === "")
          scores[trajectory].reason = correct ? "right by the judge" : "wrong by the judge";
      } else if (unjudged === undefined) {
        throw new Error(`the judge gave no verdict on ${JSON.stringify(answer)}: ${failure}`);
      } else scores[trajectory] = { score: unjudged, reason: `no verdict: ${failure}`, answer };
    });
    return scores;
  });
}

/** A part of a rubric; weight 0 makes it a metric that is logged and does not count. */
export interface RubricPart<R extends Reward = Reward> {
  name: string;
  weight: number;
  reward: R;
}

/** One score from those of the parts. */
function total(parts: readonly RubricPart[], found: readonly Score[]): Score {
  const out = { score: 0, reason: "", parts: {} as Record<string, number> } as Score & {
    parts: Record<string, number>;
  };
  const reasons: string[] = [];
  parts.forEach(({ name, weight }, i) => {
    const part = found[i]!;
    // A part that counts must not turn the whole into NaN unnoticed; a metric may be anything.
    if (weight !== 0) out.score += weight * part.score;
    out.parts[name] = part.score;
    for (const [key, value] of Object.entries(part.parts ?? {})) {
      out.parts[`${name}/${key}`] = value;
    }
    if (part.answer !== undefined) out.answer ??= part.answer;
    if (part.reason) reasons.push(`${name}: ${part.reason}`);
  });
  return { ...out, reason: reasons.join("; ") };
}

/**
 * A reward that is a weighted sum of others; every part is logged under its name. With a part that
 * judges whole groups, so does the rubric.
 *
 * @param parts the rewards with their names and weights
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { deepResearch, judgedTrajectory, rubric } from "arpo-lab/learn";
 *
 * const reward = rubric([
 *   { name: "answer", weight: 1, reward: deepResearch },
 *   { name: "calls", weight: -0.01, reward: (t) => t.toolCalls.length },
 *   { name: "length", weight: 0, reward: (t) => t.length },
 * ]);
 * const response = "<think>t</think><answer>\\boxed{2}</answer>";
 * const judged = judgedTrajectory({ response, groundTruth: "2", length: 9 });
 * const { score, parts } = await reward(judged);
 * assert.equal(score, 1);
 * assert.equal(parts?.length, 9);
 * ```
 */
export function rubric(
  parts: readonly RubricPart<RewardFunction>[],
): (judged: JudgedTrajectory, context?: RewardContext) => Promise<Score>;
/** @param parts the rewards with their names and weights */
export function rubric(parts: readonly RubricPart[]): GroupReward;
export function rubric(
  parts: readonly RubricPart[],
): GroupReward | ((judged: JudgedTrajectory, context?: RewardContext) => Promise<Score>) {
  checkArguments("make a rubric", { parts }, { parts: "list" });
  const repeated = parts.find(({ name }, i) => parts.findIndex((p) => p.name === name) !== i);
  if (parts.length === 0 || repeated) {
    throw new RangeError(
      `Cannot make a rubric: there must be parts with names of their own, got ${repeated ? `${repeated.name} twice` : "none"}`,
    );
  }
  if (parts.some(({ reward }) => isGroupReward(reward))) {
    return groupReward(async (judged, context) => {
      const found: Score[][] = [];
      for (const { reward } of parts) found.push(await groupScores(reward, judged, context));
      return judged.map((_, trajectory) =>
        total(
          parts,
          found.map((scores) => scores[trajectory]!),
        ),
      );
    });
  }
  const single = parts as readonly RubricPart<RewardFunction>[];
  return async (judged, context = { signal: new AbortController().signal }) => {
    const found: Score[] = [];
    for (const { reward } of single) found.push(asScore(await reward(judged, context)));
    return total(parts, found);
  };
}

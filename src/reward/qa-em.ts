import { checkArguments } from "../arguments/check-arguments.js";
import { blocks } from "../text/blocks.js";
import { normalizeAnswer } from "./f1.js";
import { count, strip } from "../text/python-text.js";
import { type Judged, type Score, truthsOf } from "./score.js";

/** More answer tags than this look like an attempt to guess, and an exact match counts a quarter. */
const manyAnswers = 10;

function lastAnswer(response: string): string | undefined {
  let last: string | undefined;
  for (const { inner } of blocks(response, "<answer>", "</answer>")) last = inner;
  return last === undefined ? undefined : strip(last);
}

function judge(
  judged: Judged,
  matches: (answer: string, truth: string) => boolean,
  manyCount: number,
): Score {
  const { response } = judged;
  const wanted = truthsOf(judged);
  const answer = lastAnswer(response);
  if (answer === undefined) return { score: 0, reason: "no answer block" };
  const given = normalizeAnswer(answer);
  if (!wanted.some((truth) => matches(given, normalizeAnswer(truth)))) {
    return { score: 0, reason: `wrong answer: ${answer}`, answer };
  }
  const tags = Math.max(count(response, "<answer>"), count(response, "</answer>"));
  return tags > manyAnswers && manyCount < 1
    ? { score: manyCount, reason: `right answer, but ${tags} answer tags`, answer }
    : { score: 1, reason: "right answer", answer };
}

/**
 * Search-R1's exact match on the last answer block, after `normalizeAnswer`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { exactMatch } from "arpo-lab/learn";
 *
 * assert.equal(exactMatch({ response: "<answer>The Paris</answer>", groundTruth: "paris" }).score, 1);
 * ```
 */
export function exactMatch(judged: Judged): Score {
  checkArguments("reward", { judged }, { judged: { response: "text" } });
  return judge(judged, (given, truth) => given === truth, 0.25);
}

/**
 * As `exactMatch`, but the ground truth need only occur in the answer.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { substringMatch } from "arpo-lab/learn";
 *
 * assert.equal(
 *   substringMatch({ response: "<answer>Paris, France</answer>", groundTruth: "Paris" }).score,
 *   1,
 * );
 * ```
 */
export function substringMatch(judged: Judged): Score {
  checkArguments("reward", { judged }, { judged: { response: "text" } });
  return judge(judged, (given, truth) => given.includes(truth), 1);
}

import { normalizeAnswer } from "./f1.js";
import { count, strip } from "./python-text.js";
import type { Judged, Score } from "./score.js";

/** More answer tags than this look like an attempt to guess, and an exact match counts a quarter. */
const manyAnswers = 10;

function lastAnswer(response: string): string | undefined {
  const blocks = [...response.matchAll(/<answer>([\s\S]*?)<\/answer>/g)];
  const last = blocks[blocks.length - 1];
  return last === undefined ? undefined : strip(last[1]!);
}

function judge(
  { response, groundTruth }: Judged,
  matches: (answer: string, truth: string) => boolean,
  manyCount: number,
): Score {
  const answer = lastAnswer(response);
  if (answer === undefined) return { score: 0, reason: "no answer block" };
  const given = normalizeAnswer(answer);
  const wanted = typeof groundTruth === "string" ? [groundTruth] : groundTruth;
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
 * import { exactMatch } from "arpo-lab/reward";
 *
 * assert.equal(exactMatch({ response: "<answer>The Paris</answer>", groundTruth: "paris" }).score, 1);
 * ```
 */
export function exactMatch(judged: Judged): Score {
  return judge(judged, (given, truth) => given === truth, 0.25);
}

/**
 * As `exactMatch`, but the ground truth need only occur in the answer.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { substringMatch } from "arpo-lab/reward";
 *
 * assert.equal(
 *   substringMatch({ response: "<answer>Paris, France</answer>", groundTruth: "Paris" }).score,
 *   1,
 * );
 * ```
 */
export function substringMatch(judged: Judged): Score {
  return judge(judged, (given, truth) => given.includes(truth), 1);
}

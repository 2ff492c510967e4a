import { blocks } from "../../base/text/result-block.js";
import { count, strip } from "../../base/text/python-text.js";
import { type Judged, responseOf, type Score, truthsOf } from "../score.js";
import { normalizeAnswer } from "./qa-em.js";

/** More answer tags than this look like an attempt to guess, and an exact match counts a quarter. */
const manyAnswers = 10;

function lastAnswer(response: string): string | undefined {
  let last: string | undefined;
  for (const { inner } of blocks(response, "<answer>", "</answer>")) last = inner;
  return last === undefined ? undefined : strip(last);
}

/** Compares the last answer block; a right answer among many counts `manyCount`. */
export function judgeBlock(
  judged: Judged,
  matches: (answer: string, truth: string) => boolean,
  manyCount: number,
): Score {
  const response = responseOf(judged);
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

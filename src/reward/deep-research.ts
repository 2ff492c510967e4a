import { checkArguments } from "../arguments/check-arguments.js";
import { lastBoxed, unboxed } from "./boxed.js";
import { tokenF1 } from "./f1.js";
import { checkFormat } from "./format.js";
import { type Judged, type Score, truthsOf } from "./score.js";

/** What using search and python both adds to a right answer. */
const bothToolsBonus = 0.1;

/**
 * The reward of every published ARPO and AEPO run. It is -1 for a broken format and 0 for a wrong answer.
 * Otherwise it is the token F1 of the boxed answer, plus 0.1 if both tools' closing tags are present.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { deepResearch } from "arpo-lab/learn";
 *
 * const response = "<think>t</think><answer>\\boxed{Paris}</answer>";
 * assert.equal(deepResearch({ response, groundTruth: "Paris" }).score, 1);
 * assert.equal(deepResearch({ response: "Paris", groundTruth: "Paris" }).score, -1);
 * ```
 */
export function deepResearch(judged: Judged): Score {
  checkArguments("reward", { judged }, { judged: { response: "text" } });
  const { response, eosToken } = judged;
  const wanted = truthsOf(judged);
  const format = checkFormat(response);
  const fail = (reason: string): Score => ({
    score: -1,
    reason,
    answer: "",
    parts: { f1_score: 0, format: 0 },
  });
  if (!format.valid) return fail(`bad format: ${format.reason}`);
  const text =
    eosToken && response.endsWith(eosToken) ? response.slice(0, -eosToken.length) : response;
  const start = text.indexOf("<answer>") + "<answer>".length;
  const end = text.indexOf("</answer>", start);
  // The format was right before the end-of-sequence string was taken off.
  if (end < 0) return fail("cannot extract answer");
  let answer: string;
  try {
    answer = unboxed(lastBoxed(text.slice(start, end)));
  } catch (error) {
    return fail(`find box error: ${error instanceof Error ? error.message : String(error)}`);
  }
  const f1 = tokenF1(answer, wanted);
  const parts = { f1_score: f1, format: 1 };
  if (f1 === 0)
    return { score: 0, reason: `wrong answer but good format: ${answer}`, answer, parts };
  if (text.includes("</search>") && text.includes("</python>")) {
    const score = f1 + bothToolsBonus;
    const reason = `correct answer and calling search and python at the same time, get score: ${score}`;
    return { score, reason, answer, parts };
  }
  return { score: f1, reason: `correct answer, get f1 score: ${f1}`, answer, parts };
}

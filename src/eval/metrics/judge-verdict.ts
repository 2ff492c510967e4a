import { checkArguments } from "../../../common/options/check-arguments.js";
import { mathEquivalent } from "../../reward/answers/math-equivalence.js";
import { strip } from "../../base/text/python-text.js";

/**
 * What a judge's reply means: right if the strings are equivalent anyway, or if the reply (its
 * `<judgment>` part, if it has one) says "correct" and none of "incorrect", "wrong", "not correct".
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { judgeVerdict } from "arpo-lab/experimental/evaluation";
 *
 * assert.ok(judgeVerdict("This is correct.", "a", "b"));
 * assert.ok(!judgeVerdict("Not correct", "a", "b"));
 * assert.ok(judgeVerdict("Incorrect", "1/2", "\\frac12"));
 * ```
 */
export function judgeVerdict(reply: string, prediction: unknown, reference: unknown): boolean {
  checkArguments("read a verdict", { reply }, { reply: "text" });
  if (equivalent(prediction, reference)) return true;
  const start = reply.indexOf("<judgment>");
  const end = reply.indexOf("</judgment>");
  const part = start >= 0 && end >= 0 ? reply.slice(start + "<judgment>".length, end) : reply;
  const verdict = strip(part).toLowerCase();
  return verdict.includes("correct") && !/incorrect|wrong|not correct/.test(verdict);
}

/** Only texts can be equivalent; a list of references leaves it to the judge, as in the reference. */
function equivalent(a: unknown, b: unknown): boolean {
  return typeof a === "string" && typeof b === "string" && mathEquivalent(a, b);
}

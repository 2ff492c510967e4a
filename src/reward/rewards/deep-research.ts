import { checkArguments } from "../../../common/options/check-arguments.js";
import { count } from "../../base/text/python-text.js";
import { lastBoxed, unboxed } from "../answers/extract-answer.js";
import { tokenF1 } from "../answers/qa-em.js";
import { formatOf, type Judged, type Score, truthsOf } from "../score.js";
import { defineReward } from "./definition.js";

/** Whether a response keeps the format, and if not, which rule it breaks. */
interface FormatCheck {
  valid: boolean;
  reason: string;
}

const broken = (reason: string): FormatCheck => ({ valid: false, reason });

/** Each opening tag of a tool needs its closing tag and a result block behind it, in that order. */
function toolBlocks(text: string, tag: string): FormatCheck | undefined {
  for (let from = 0; ;) {
    const open = text.indexOf(`<${tag}>`, from);
    if (open < 0) return undefined;
    const result = text.indexOf("<result>", open);
    const close = text.indexOf(`</${tag}>`, open);
    const end = result < 0 ? -1 : text.indexOf("</result>", result);
    if (result < 0 || close < 0 || end < 0) return broken(`${tag}/result tags are incomplete`);
    if (close > result) return broken(`${tag}/result tags are nested in the wrong order`);
    from = end;
  }
}

/**
 * The reference's format rules for a response without its prompt, in its order.
 *
 * @param response the response without its prompt
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { checkFormat } from "arpo-lab/learn";
 *
 * assert.ok(checkFormat("<think>t</think><answer>\\boxed{1}</answer>").valid);
 * assert.equal(checkFormat("<answer>1</answer>").reason, "<think> or </think> not found");
 * ```
 */
export function checkFormat(response: string): FormatCheck {
  checkArguments("check a format", { response }, { response: "text" });
  const thinks = count(response, "<think>");
  if (thinks !== count(response, "</think>")) return broken("<think> </think> not paired");
  if (thinks === 0) return broken("<think> or </think> not found");
  if (count(response, "<answer>") !== 1 || count(response, "</answer>") !== 1) {
    return broken("<answer> or </answer> not found");
  }
  const tools = toolBlocks(response, "search") ?? toolBlocks(response, "python");
  if (tools) return tools;
  const start = response.indexOf("<answer>");
  const end = response.indexOf("</answer>");
  if (start > end) return broken("<answer> must be before </answer>");
  const answer = response.slice(start, end);
  if (!answer.includes("\\boxed{") || !answer.includes("}")) {
    return broken("answer is missing \\boxed{} format");
  }
  return { valid: true, reason: "format is correct" };
}

/** What using search and python both adds to a right answer. */
const bothToolsBonus = 0.1;

/**
 * The reward of every published ARPO and AEPO run. It is -1 for a broken format and 0 for a wrong answer.
 * Otherwise it is the token F1 of the boxed answer, plus 0.1 if both tools were called. What tools said counts for
 * nothing; `reference(deepResearch)` reads it as the published runs did.
 *
 * @param judged the trajectory to score
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
  const { eosToken } = judged;
  const wanted = truthsOf(judged);
  const { text: response, calls } = formatOf(judged);
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
  if (calls("search") && calls("python")) {
    const score = f1 + bothToolsBonus;
    const reason = `correct answer and calling search and python at the same time, get score: ${score}`;
    return { score, reason, answer, parts };
  }
  return { score: f1, reason: `correct answer, get f1 score: ${f1}`, answer, parts };
}

export const deepResearchReward = defineReward({
  name: "deep_research",
  words: "what ARPO and AEPO were trained with: the format, token F1, and a bonus for both tools",
  reward: deepResearch,
  formats: ["<think>", "<answer>", "\\boxed"],
});

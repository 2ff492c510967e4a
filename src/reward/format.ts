import { checkArguments } from "../arguments/check-arguments.js";
import { count } from "../text/python-text.js";

/** Whether a response keeps the format, and if not, which rule it breaks. */
export interface FormatCheck {
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

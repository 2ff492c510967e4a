import { checkArguments } from "../arguments/check-arguments.js";
import { lastBoxedOrTail } from "./boxed.js";
import { strip } from "../text/python-text.js";

/** Takes `\name{` and `}` off, if both are there. */
function unwrapped(text: string, name: string): string {
  const open = `\\${name}{`;
  return text.startsWith(open) && text.endsWith("}") ? text.slice(open.length, -1) : text;
}

/** The last boxed expression without its box and one `\text{}`. */
function boxedContent(text: string): string {
  const boxed = lastBoxedOrTail(strip(text));
  const content = unwrapped(boxed, "boxed");
  return content === boxed ? content : unwrapped(content, "text");
}

/**
 * The prediction in a whole transcript: what is boxed in the last answer block, or that block's text;
 * without a block, the last boxed expression anywhere.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { extractAnswer } from "arpo-lab/learn";
 *
 * assert.equal(extractAnswer("<answer>\\boxed{\\text{Hi}}</answer>"), "Hi");
 * assert.equal(extractAnswer("<answer>plain</answer>"), "plain");
 * ```
 */
export function extractAnswer(transcript: string): string {
  checkArguments("extract an answer", { transcript }, { transcript: "text" });
  const end = transcript.lastIndexOf("</answer>");
  const start = end < 0 ? -1 : transcript.slice(0, end).lastIndexOf("<answer>");
  const block = start < 0 ? "" : transcript.slice(start + "<answer>".length, end);
  if (block === "") return boxedContent(transcript);
  return boxedContent(block) || block;
}

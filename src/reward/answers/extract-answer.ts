import { checkArguments } from "../../../common/options/check-arguments.js";
import { strip } from "../../base/text/python-text.js";

/** Where the brace that balances the first opening one after `from` is, or -1. */
function closingBrace(text: string, from: number): number {
  let open = 0;
  for (let i = from; i < text.length; i++) {
    if (text[i] === "{") open++;
    if (text[i] === "}" && --open === 0) return i;
  }
  return -1;
}

/** Where the last `\boxed` starts, or else the last `\fbox`, or -1. */
function lastBox(text: string): number {
  const boxed = text.lastIndexOf("\\boxed");
  return boxed >= 0 ? boxed : text.lastIndexOf("\\fbox");
}

/**
 * The last boxed expression of a text as the training rewards find it, `\boxed` included; undefined
 * when there is none or its braces do not balance. `\boxed ` followed by a space takes precedence and
 * runs to the next `$`.
 */
export function lastBoxed(text: string): string | undefined {
  const spaced = text.lastIndexOf("\\boxed ");
  if (spaced >= 0) return text.slice(spaced).split("$")[0];
  const start = lastBox(text);
  if (start < 0) return undefined;
  const end = closingBrace(text, start);
  return end < 0 ? undefined : text.slice(start, end + 1);
}

/**
 * The last boxed expression as the evaluation finds it: the open tail when its braces do not balance,
 * the empty string when there is none.
 */
export function lastBoxedOrTail(text: string): string {
  const start = lastBox(text);
  if (start < 0) return "";
  const end = closingBrace(text, start);
  return end < 0 ? text.slice(start) : text.slice(start, end + 1);
}

/** What is inside `\boxed{…}` or after `\boxed `; throws on anything else, `\fbox` too. */
export function unboxed(expression: string | undefined): string {
  if (expression === undefined) {
    throw new TypeError("Cannot unbox: there must be a balanced boxed expression, got none");
  }
  if (expression.startsWith("\\boxed ")) return expression.slice("\\boxed ".length);
  if (
    !expression.startsWith("\\boxed{") ||
    !expression.endsWith("}") ||
    expression.includes("\\boxed ")
  ) {
    throw new SyntaxError(`Cannot unbox: the expression must be \\boxed{…}, got ${expression}`);
  }
  return expression.slice("\\boxed{".length, -1);
}

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
 * @param transcript the whole text of a trajectory
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

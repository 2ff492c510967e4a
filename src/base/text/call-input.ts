import { checkArguments } from "../../../common/options/check-arguments.js";
import { blocks } from "./result-block.js";
import { strip } from "./python-text.js";

// A call's input is read in two ways, as the reference does. Its training takes the last call of a text and strips
// white space as Python does. Its evaluation takes the first call of a whole generation.

/**
 * The input of the tool call that a text ends with, as training reads it. It is the trimmed text between the
 * last closing tag and the last opening tag before it, and empty if either is missing.
 *
 * @param text the text that ends with the call
 * @param tag the tool's tag
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { toolContent } from "arpo-lab/rollout";
 *
 * assert.equal(toolContent("<python> 1 </python><python>\n2+2\n</python>", "python"), "2+2");
 * assert.equal(toolContent("2+2</python>", "python"), "");
 * ```
 */
export function toolContent(text: string, tag: string): string {
  checkArguments("read a call", { text, tag }, { text: "text", tag: "text" });
  const end = text.lastIndexOf(`</${tag}>`);
  if (end < 0) return "";
  const open = `<${tag}>`;
  const start = text.slice(0, end).lastIndexOf(open);
  return start < 0 ? "" : strip(text.slice(start + open.length, end));
}

/**
 * The input of the first tool call in a text, as evaluation reads it: from the first opening tag to the
 * next closing one, trimmed; empty when either is missing.
 */
export function callContent(text: string, tag: string): string {
  const [call] = blocks(text, `<${tag}>`, `</${tag}>`);
  return call?.inner.trim() ?? "";
}

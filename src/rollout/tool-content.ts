// White space as Python's strip() sees it; JavaScript's trim() differs in six characters.
const space = "[\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const edges = new RegExp(`^${space}+|${space}+$`, "g");

/**
 * The input of the tool call a text ends with: what stands between the last closing tag and the last
 * opening tag before it, trimmed; empty when either is missing.
 *
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
  const end = text.lastIndexOf(`</${tag}>`);
  if (end < 0) return "";
  const open = `<${tag}>`;
  const start = text.slice(0, end).lastIndexOf(open);
  return start < 0 ? "" : text.slice(start + open.length, end).replace(edges, "");
}

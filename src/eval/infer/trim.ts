/**
 * What is kept of a generation: nothing from the first result block on, which the model made up, and
 * nothing after the first closing tag of a call or of the answer.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { trimGeneration } from "arpo-lab/eval";
 *
 * const text = "<search>Oslo</search> <result>made up</result>";
 * assert.equal(trimGeneration(text, ["search", "python"]), "<search>Oslo</search>");
 * ```
 */
export function trimGeneration(text: string, tags: readonly string[]): string {
  const cut = (at: number) => {
    if (at >= 0) text = text.slice(0, at);
  };
  cut(text.indexOf("<result>"));
  for (const tag of [...tags, "answer"]) {
    const closing = `</${tag}>`;
    const at = text.indexOf(closing);
    cut(at < 0 ? -1 : at + closing.length);
  }
  return text;
}

/** The content of a call: from the first opening tag to the next closing one, trimmed. */
export function callContent(text: string, tag: string): string {
  const opening = `<${tag}>`;
  const start = text.indexOf(opening);
  if (start < 0) return "";
  const end = text.indexOf(`</${tag}>`, start + opening.length);
  return end < 0 ? "" : text.slice(start + opening.length, end).trim();
}

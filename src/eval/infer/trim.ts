import { resultMarks } from "../../text/result-block.js";

/**
 * What is kept of a generation: nothing from the first result block on, which the model made up, and
 * nothing after the first closing tag of a call or of the answer.
 */
export function trimGeneration(text: string, tags: readonly string[]): string {
  const cut = (at: number) => {
    if (at >= 0) text = text.slice(0, at);
  };
  cut(text.indexOf(resultMarks.open));
  for (const tag of [...tags, "answer"]) {
    const closing = `</${tag}>`;
    const at = text.indexOf(closing);
    cut(at < 0 ? -1 : at + closing.length);
  }
  return text;
}

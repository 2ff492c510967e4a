import type { Tokenizer } from "../model/tokenizer.js";

/** A tool's answer as the model reads it: text, and tokens of that text as one string. */
export function resultBlock(
  text: string,
  tokenizer: Tokenizer,
  begin: number | null,
): { text: string; tokens: number[] } {
  const block = ` <result>\n${text}\n</result>`;
  const tokens = tokenizer.encode(block);
  return { text: block, tokens: begin === null ? tokens : [begin, ...tokens] };
}

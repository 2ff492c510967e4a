import type { Tokenizer } from "./tokenizer.js";

/**
 * The first tokens of a text, at most so many, and whether they are all of it.
 *
 * Costs what those tokens cost, however long the text is: a tool may answer with megabytes of which
 * a row keeps little or nothing.
 */
export function encodeStart(
  tokenizer: Tokenizer,
  text: string,
  most: number,
): { tokens: number[]; whole: boolean } {
  // The end of a cut text has other tokens than it would have in the whole; those before so many are not
  // touched by that.
  const surely = most + (most >> 3) + 64;
  for (let length = 4 * surely; length < text.length; length *= 2) {
    const tokens = tokenizer.encode(text.slice(0, length));
    if (tokens.length > surely) return { tokens: tokens.slice(0, most), whole: false };
  }
  const tokens = tokenizer.encode(text);
  return { tokens: tokens.slice(0, Math.max(0, most)), whole: tokens.length <= most };
}

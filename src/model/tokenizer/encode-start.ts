import { encodeParts, joined, meant, sliceParts } from "./special-tokens.js";
import type { TextPart, Tokenizer } from "./tokenizer.js";

/**
 * The first tokens of a text, at most so many, and whether they are all of it.
 *
 * Costs what those tokens cost, however long the text is: a tool may answer with megabytes of which
 * a row keeps little or nothing.
 */
export function encodeStart(
  tokenizer: Tokenizer,
  given: string | readonly TextPart[],
  most: number,
): { tokens: number[]; whole: boolean } {
  const parts = typeof given === "string" ? [meant(given)] : given;
  const { length: whole } = joined(parts);
  // The end of a cut text has other tokens than it would have in the whole; those before so many are not
  // touched by that.
  const surely = most + (most >> 3) + 64;
  for (let length = 4 * surely; length < whole; length *= 2) {
    const tokens = encodeParts(tokenizer, sliceParts(parts, 0, length));
    if (tokens.length > surely) return { tokens: tokens.slice(0, most), whole: false };
  }
  const tokens = encodeParts(tokenizer, parts);
  return { tokens: tokens.slice(0, Math.max(0, most)), whole: tokens.length <= most };
}

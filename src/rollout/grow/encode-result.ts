import { encodeStart } from "../../model/tokenizer/encode-start.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";

/** A result block, or as much of it as was asked for. */
export interface EncodedResult {
  text: string;
  tokens: number[];
  whole: boolean;
}

/** The beginning of a tool's answer, in the words around it, as the model reads it: text, and tokens of that text as one string. */
export function encodeResult(
  block: string,
  tokenizer: Tokenizer,
  begin: number | null,
  most: number,
): EncodedResult {
  const first = begin === null ? [] : [begin];
  const { tokens, whole } = encodeStart(tokenizer, block, most - first.length);
  return { text: whole ? block : tokenizer.decode(tokens), tokens: first.concat(tokens), whole };
}

import { strip } from "../../text/python-text.js";
import { blocks } from "../../text/blocks.js";

/** How many blocks of a tag are opened and closed, from left to right. */
export function countBlocks(text: string, tag: string): number {
  return [...blocks(text, `<${tag}>`, `</${tag}>`)].length;
}

/** A text without the blocks of a tag. */
function without(text: string, tag: string): string {
  let [out, at] = ["", 0];
  for (const { from, to } of blocks(text, `<${tag}>`, `</${tag}>`)) {
    out += text.slice(at, from);
    at = to;
  }
  return out + text.slice(at);
}

/** Characters of a transcript without its result blocks. */
export function outputLength(transcript: string): number {
  const own = without(without(transcript, "r"), "result");
  return [...strip(own)].length;
}

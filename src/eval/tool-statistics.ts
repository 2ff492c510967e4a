import { strip } from "../reward/python-text.js";

/**
 * How many blocks of a tag are opened and closed, from left to right.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { countBlocks } from "arpo-lab/eval";
 *
 * assert.equal(countBlocks("<python>a</python><python>b", "python"), 1);
 * ```
 */
export function countBlocks(text: string, tag: string): number {
  let blocks = 0;
  for (let from = 0; ; blocks++) {
    const start = text.indexOf(`<${tag}>`, from);
    if (start < 0) return blocks;
    const end = text.indexOf(`</${tag}>`, start + tag.length + 2);
    if (end < 0) return blocks;
    from = end + tag.length + 3;
  }
}

/**
 * Characters of a transcript without its result blocks.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { outputLength } from "arpo-lab/eval";
 *
 * assert.equal(outputLength("ab<result>long</result>"), 2);
 * ```
 */
export function outputLength(transcript: string): number {
  const own = transcript.replace(/<r>[^]*?<\/r>/g, "").replace(/<result>[^]*?<\/result>/g, "");
  return [...strip(own)].length;
}

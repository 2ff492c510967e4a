import { Readable } from "node:stream";
import { createInflateRaw } from "node:zlib";

export { crc32 } from "node:zlib";

/** What was packed, as it was before: DEFLATE, as zip archives have it. */
export function inflated(packed: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return Readable.from(packed).compose(createInflateRaw());
}

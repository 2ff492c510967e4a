import { Readable } from "node:stream";
import * as zlib from "node:zlib";

export { crc32 } from "node:zlib";

/** What was packed, as it was before: DEFLATE, as zip archives have it. */
export function inflated(packed: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return Readable.from(packed).compose(zlib.createInflateRaw());
}

type Unzstd = (packed: Uint8Array, options: { maxOutputLength: number }) => Uint8Array;
const own = (zlib as { zstdDecompressSync?: Unzstd }).zstdDecompressSync;

/** What was packed by Zstandard, at most so many bytes; undefined where the engine cannot, as before Node 22.15. */
export const unzstd =
  own && ((packed: Uint8Array, size: number) => own(packed, { maxOutputLength: size }));

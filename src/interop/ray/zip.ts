import { deflateRawSync } from "node:zlib";
import { type ZippedFile, zipOfPacked } from "../../base/files/zip.js";

/** A file of a package. */
export type PackedFile = Omit<ZippedFile, "packed">;

/** A zip that is the same for the same files: a cluster that has it is not sent it again. */
export function zipOf(files: readonly PackedFile[]): Buffer {
  const packed = files.map((file) => ({ ...file, packed: deflateRawSync(file.data) }));
  const zip = zipOfPacked(packed);
  return Buffer.from(zip.buffer, zip.byteOffset, zip.length);
}

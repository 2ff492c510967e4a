import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

/** Bytes read at once: others have their turn between two of these. */
const piece = 1 << 20;

/** The SHA-256 of a file. */
export async function hashOf(place: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of pieces(place)) hash.update(chunk);
  return hash.digest("hex");
}

/** A file's bytes, and where it is wanted the SHA-256 of the same bytes. */
export async function readWhole(
  place: string,
  hashed: boolean,
): Promise<{ bytes: Buffer; hash: string | undefined }> {
  const hash = hashed ? createHash("sha256") : undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of pieces(place)) {
    hash?.update(chunk);
    chunks.push(chunk);
  }
  return { bytes: Buffer.concat(chunks), hash: hash?.digest("hex") };
}

function pieces(place: string): AsyncIterable<Buffer> {
  return createReadStream(place, { highWaterMark: piece });
}

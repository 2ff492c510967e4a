import { joinBytes } from "#platform/bytes";
import { type FileHandle, piecesOf } from "#platform/files";
import { sha256Of } from "#platform/sha256";

/** The SHA-256 of an open file. */
export async function hashOf(file: FileHandle): Promise<string> {
  const hash = sha256Of();
  for await (const piece of piecesOf(file)) hash.update(piece);
  return hash.hex();
}

/** An open file's bytes, and where it is wanted the SHA-256 of the same bytes. */
export async function readWhole(
  file: FileHandle,
  hashed = false,
): Promise<{ bytes: Uint8Array; hash: string | undefined }> {
  const hash = hashed ? sha256Of() : undefined;
  const pieces: Uint8Array[] = [];
  // Others have their turn between two of them.
  for await (const piece of piecesOf(file)) {
    hash?.update(piece);
    pieces.push(piece);
  }
  return { bytes: joinBytes(pieces), hash: hash?.hex() };
}

import { joinBytes, longestText } from "#platform/bytes";
import { type FileHandle, type FileStat, piecesOf } from "#platform/files";
import { sha256Of } from "#platform/sha256";
import { ErrorResponse } from "../../../common/http-server/error-response.js";

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

/** When it was written last. */
export function timeOf(status: FileStat): string {
  return new Date(Math.round(status.mtimeMs)).toISOString();
}

/** The most bytes that can be sent at once, as the text that JSON is. */
export const mostBytes = longestText;

/** Why a file is not opened that does not fit into one text. */
export function tooLarge(path: string, options?: ErrorOptions): ErrorResponse {
  const most = Math.floor(mostBytes / 2 ** 20);
  return new ErrorResponse(
    413,
    `Cannot open ${path}: as text it must be at most ${most} MB; download it, or read it in a cell`,
    options,
  );
}

import { sha256Of } from "#platform/sha256";
import { readPieces, stat } from "#platform/files";
import type { KnownFile } from "./known-models.js";

/** What a file is that is not as it must be; undefined where it is. */
export async function difference(path: string, wanted: KnownFile): Promise<string | undefined> {
  const { size } = await stat(path);
  if (size !== wanted.bytes) return `${size} bytes`;
  const hash = sha256Of();
  for await (const piece of readPieces(path)) hash.update(piece);
  const found = hash.hex();
  return found === wanted.sha256 ? undefined : `sha256 ${found}`;
}

/** What a file must be, in words. */
export const described = ({ name, bytes, sha256 }: KnownFile): string =>
  `${name} of ${bytes} bytes with sha256 ${sha256}`;

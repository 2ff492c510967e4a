import { open, piecesOf } from "#platform/files";
import { sha256Of } from "#platform/sha256";

/** What a file was when it was saved. */
export interface FileSum {
  bytes: number;
  sha256: string;
}

export async function sumOf(path: string): Promise<FileSum> {
  const file = await open(path, "r");
  try {
    const hash = sha256Of();
    let bytes = 0;
    for await (const piece of piecesOf(file)) {
      hash.update(piece);
      bytes += piece.length;
    }
    return { bytes, sha256: hash.hex() };
  } finally {
    await file.close();
  }
}

/** How a file is other than it was saved: words that follow "got"; undefined where it is the same. */
export async function differenceOf(path: string, saved: FileSum): Promise<string | undefined> {
  let found: FileSum;
  try {
    found = await sumOf(path);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  }
  if (found.bytes !== saved.bytes) return `${found.bytes} bytes where ${saved.bytes} were`;
  return found.sha256 === saved.sha256 ? undefined : "other contents (SHA-256)";
}

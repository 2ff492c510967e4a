import { type FileHandle, open, rename, rm } from "#platform/files";
import { processId, system } from "#platform/process";
import { dirname } from "#platform/path";

/** A file written beside its final place, on disk already, waiting to take that place or to go. */
export interface StagedFile {
  readonly path: string;
  commit(): Promise<void>;
  discard(): Promise<void>;
}

let serial = 0;

/**
 * Writes a file under another name and lets it take its place in one step, so that nobody, not even
 * after a crash, sees half of it. Several files can be staged first and committed together.
 */
export async function stageFile(
  path: string,
  write: (file: FileHandle) => Promise<void>,
): Promise<StagedFile> {
  const temporary = `${path}.${processId}-${serial++}.tmp`;
  const discard = () => rm(temporary, { force: true });
  const file = await open(temporary, "wx");
  try {
    await write(file);
    await file.sync();
  } catch (error) {
    await file.close();
    await discard();
    throw error;
  }
  await file.close();
  return {
    path,
    discard,
    async commit() {
      await rename(temporary, path);
      if (system === "win32") return; // a folder cannot be opened there
      const folder = await open(dirname(path), "r");
      try {
        await folder.sync(); // the rename itself reaches the disk
      } finally {
        await folder.close();
      }
    },
  };
}

/** What kept something from being written, in words. */
export function writeFault(error: unknown, doing: string): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  const why =
    code === "ENOSPC"
      ? "the disk is full"
      : code === "EACCES" || code === "EROFS" || code === "EPERM"
        ? "the folder cannot be written"
        : message;
  return new Error(`Cannot ${doing}: ${why}${code ? ` (${code})` : ""}`, { cause: error });
}

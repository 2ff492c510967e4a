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

let last = "/";

/** The working directory; where a cell has deleted it, the one that it was. */
export function currentFolder(): string {
  try {
    last = process.cwd();
  } catch {
    // It is gone: whoever needs it says so.
  }
  return last;
}

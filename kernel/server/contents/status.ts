import type { FileStat } from "#platform/files";

/** When it was written last. */
export function timeOf(status: FileStat): string {
  return new Date(Math.round(status.mtimeMs)).toISOString();
}

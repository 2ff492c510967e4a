import { type FileStat, stat } from "#platform/files";

/** What is at a place; undefined where nothing is. */
export async function statusOf(place: string): Promise<FileStat | undefined> {
  try {
    return await stat(place);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Whether something is at a place. */
export async function exists(place: string): Promise<boolean> {
  return (await statusOf(place)) !== undefined;
}

/** When it was written last. */
export function timeOf(status: FileStat): string {
  return new Date(Math.round(status.mtimeMs)).toISOString();
}

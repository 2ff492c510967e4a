import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";

/** What is at a place; undefined where nothing is. */
export async function statusOf(place: string): Promise<Stats | undefined> {
  try {
    return await stat(place);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Whether something is at a place. */
export async function exists(place: string): Promise<boolean> {
  return (await statusOf(place)) !== undefined;
}

import { type FileStat, statIfThereSync } from "#platform/files";
import { packagePath } from "#platform/package-path";
import { resolve } from "#platform/path";

/** What is at a path; undefined where nothing is, or where a file stands in its way. */
export function statOf(path: string): FileStat | undefined {
  try {
    return statIfThereSync(path);
  } catch (error) {
    if ((error as { code?: string }).code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Whether there is a file of this name. */
export function isFile(path: string): boolean {
  return statOf(path)?.isFile() === true;
}

/** The folder of this package's package.json. */
export const packageFolder: string = resolve(packagePath("."));

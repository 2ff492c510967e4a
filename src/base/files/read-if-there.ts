import { readFile, readdir } from "#platform/files";

/** What a read gives; undefined where nothing stands in its place. Any other failure stays one. */
async function ifThere<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * A file's text, or undefined where there is no such file. A file that is there and cannot be read
 * throws: whoever took it for an empty one would soon write it so.
 */
export function readIfThere(path: string): Promise<string | undefined> {
  return ifThere(readFile(path, "utf8"));
}

/** The names in a folder, none where there is no such folder; one that cannot be read throws. */
export async function namesIfThere(folder: string): Promise<string[]> {
  return (await ifThere(readdir(folder))) ?? [];
}

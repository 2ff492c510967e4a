import { mkdir, stat } from "#platform/files";
import { dirname } from "#platform/path";

/**
 * Makes a folder and those above it. Node's own `recursive` reports ENOENT where the file system cannot
 * be written; this reports what is the matter.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && dirname(path) !== path) {
      await makeFolder(dirname(path));
      await mkdir(path);
    } else if (code !== "EEXIST" || !(await stat(path)).isDirectory()) throw error;
  }
}

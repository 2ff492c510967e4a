import { statSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** What is at a path; undefined where nothing is, or where a file stands in its way. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Whether there is a file of this name. */
export function isFile(path: string): boolean {
  return statOf(path)?.isFile() === true;
}

/** The folder of this package's package.json. */
export const packageFolder = ((): string => {
  for (let at = dirname(fileURLToPath(import.meta.url)); ; at = dirname(at)) {
    if (isFile(join(at, "package.json"))) return at;
    if (dirname(at) === at) throw new Error("Cannot find the package: no package.json above it");
  }
})();

import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Whether there is a file of this name. */
export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** The folder of this package's package.json. */
export const packageFolder = ((): string => {
  for (let at = dirname(fileURLToPath(import.meta.url)); ; at = dirname(at)) {
    if (isFile(join(at, "package.json"))) return at;
    if (dirname(at) === at) throw new Error("Cannot find the package: no package.json above it");
  }
})();

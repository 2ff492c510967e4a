import { fileURLToPath } from "node:url";

const root = new URL("../../../../../", import.meta.url);

/** Where a file or folder of this package is, by its name from the package's own folder. */
export function packagePath(name: string): string {
  return fileURLToPath(new URL(name, root));
}

export { fileURLToPath as pathOf } from "node:url";
import { pathToFileURL } from "node:url";

/** The address of a file, as an import takes it. */
export function addressOf(path: string): string {
  return pathToFileURL(path).href;
}

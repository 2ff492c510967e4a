import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * A file of the public release, kept beside the checkout and never in it. Where it is absent the test
 * skips and says so: `test(name, { skip: file.missing }, …)`.
 */
export function sharedData(name: string): { path: string; missing: string | false } {
  const path = fileURLToPath(new URL(`../../../shared/data/${name}`, import.meta.url));
  return { path, missing: existsSync(path) ? false : `shared/data/${name} is not here` };
}

import { homedir } from "#platform/machine";
import { join } from "#platform/path";

/**
 * A path whose `~` is the home folder, as shells have it; any other stays as it is.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { homedir } from "node:os";
 * import { homePath } from "../src/files/index.js";
 *
 * assert.equal(homePath("~/models"), `${homedir()}/models`);
 * assert.equal(homePath("a/~"), "a/~");
 * ```
 */
export function homePath(path: string): string {
  return path === "~" || /^~[\\/]/.test(path) ? join(homedir(), path.slice(1)) : path;
}

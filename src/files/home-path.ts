import { homedir } from "#platform/machine";
import { join } from "#platform/path";

/** A path whose `~` is the home folder, as shells have it; any other stays as it is. */
export function homePath(path: string): string {
  return path === "~" || /^~[\\/]/.test(path) ? join(homedir(), path.slice(1)) : path;
}

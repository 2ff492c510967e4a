import { homedir } from "node:os";
import { join } from "node:path";

let last = "/";

/** The working directory; where a cell has deleted it, the one that it was. */
export function currentFolder(): string {
  try {
    last = process.cwd();
  } catch {
    // It is gone: whoever needs it says so.
  }
  return last;
}

/** Where the kernel keeps what outlives it. `ARPO_LAB_DATA` overrides; empty means nowhere. */
export function dataFolder(env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (env.ARPO_LAB_DATA !== undefined) return env.ARPO_LAB_DATA || undefined;
  if (process.platform === "win32") return join(env.APPDATA ?? homedir(), "arpo-lab");
  if (process.platform === "darwin")
    return join(homedir(), "Library", "Application Support", "arpo-lab");
  return join(env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "arpo-lab");
}

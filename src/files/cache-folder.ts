import { homedir } from "node:os";
import { join } from "node:path";

/** Where what can be made again is kept; `ARPO_LAB_CACHE` overrides. The kernel keeps its own there too. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  if (env["ARPO_LAB_CACHE"]) return env["ARPO_LAB_CACHE"];
  if (process.platform === "win32") {
    return join(env["LOCALAPPDATA"] ?? homedir(), "arpo-lab", "cache");
  }
  if (process.platform === "darwin") return join(homedir(), "Library", "Caches", "arpo-lab");
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "arpo-lab");
}

import { environment, homedir, system } from "#platform/process";
import { join } from "#platform/path";

/** A path whose `~` is the home folder, as shells have it; any other stays as it is. */
export function homePath(path: string): string {
  return path === "~" || /^~[\\/]/.test(path) ? join(homedir(), path.slice(1)) : path;
}

/** Where what can be made again is kept; `ARPO_LAB_CACHE` overrides. The kernel keeps its own there too. */
export function cacheFolder(
  env: Readonly<Record<string, string | undefined>> = environment,
): string {
  if (env["ARPO_LAB_CACHE"]) return env["ARPO_LAB_CACHE"];
  if (system === "win32") {
    return join(env["LOCALAPPDATA"] ?? homedir(), "arpo-lab", "cache");
  }
  if (system === "darwin") return join(homedir(), "Library", "Caches", "arpo-lab");
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "arpo-lab");
}

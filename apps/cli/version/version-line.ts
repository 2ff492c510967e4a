import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const home = fileURLToPath(new URL("../../../../", import.meta.url));

/** The commit that a folder of this package is made from: a clone asks git, a package carries it. */
export function commitOf(folder: string): string {
  // Without a repository of its own, git would tell of the one around it.
  if (existsSync(join(folder, ".git"))) {
    const git = (...args: string[]) =>
      execFileSync("git", ["-C", folder, ...args], {
        encoding: "utf8",
        timeout: 10_000,
        maxBuffer: 1 << 26,
        stdio: ["ignore", "pipe", "ignore"],
      }).trim();
    try {
      const commit = git("rev-parse", "--short=12", "HEAD");
      return `${commit}${git("status", "--porcelain") === "" ? "" : " with changes"}`;
    } catch {
      return "unknown, git does not answer";
    }
  }
  try {
    const text = readFileSync(join(folder, "dist/commit.json"), "utf8");
    const { commit } = JSON.parse(text) as { commit?: unknown };
    if (typeof commit === "string" && /^[0-9a-f]{12,64}( with changes)?$/.test(commit))
      return commit;
  } catch {
    // Told as unknown.
  }
  return "unknown";
}

/** What computes here: the addon of this machine with its instructions, or WebAssembly. */
async function engineWords(): Promise<string> {
  const { addonName, loadNativeEngine, nativeEngineExists } =
    await import("../../../src/tensor/engine/native-engine.js");
  if (!nativeEngineExists()) return "WebAssembly";
  try {
    return `native ${addonName()} ${loadNativeEngine().isa}`;
  } catch {
    return "WebAssembly: the native one does not load";
  }
}

/** What `arpo-lab --version` prints: `0.1.0 (engine native linux-x64 avx2, commit 0123456789ab)`. */
export async function versionLine(folder: string = home): Promise<string> {
  const text = readFileSync(join(folder, "package.json"), "utf8");
  const { version } = JSON.parse(text) as { version: string };
  return `${version} (engine ${await engineWords()}, commit ${commitOf(folder)})`;
}

import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { join } from "#platform/path";
import { fileURLToPath } from "node:url";

const native = fileURLToPath(new URL("../../../../native", import.meta.url));

/** Whether this Node was linked against musl, as Alpine's is: its file names the loader it needs. */
function onMusl(): boolean {
  if (process.platform !== "linux") return false;
  try {
    const file = openSync(process.execPath, "r");
    const head = Buffer.alloc(4096);
    readSync(file, head, 0, head.length, 0);
    closeSync(file);
    return head.includes("/ld-musl-");
  } catch {
    return false;
  }
}

/** What the addon for this machine is called: `linux-x64`, `linux-arm64-musl`, `darwin-arm64`. */
export function addonName(
  machine: { platform: string; arch: string; musl: boolean } = {
    platform: process.platform,
    arch: process.arch,
    musl: onMusl(),
  },
): string {
  return `${machine.platform}-${machine.arch}${machine.musl ? "-musl" : ""}`;
}

/** The addon's file: the one that this clone compiled, else the one that came with the package. */
export function findAddon(folder = native): string | undefined {
  return [join(folder, "build/arpo.node"), join(folder, `prebuilt/${addonName()}.node`)].find(
    existsSync,
  );
}

import { closeSync, existsSync, openSync, readSync } from "#platform/files";
import { join } from "#platform/path";
import { architecture, system } from "#platform/machine";
import { packagePath } from "#platform/package-path";
import { ownProgram } from "#platform/programs";

const native = packagePath("native");

/** Whether this Node was linked against musl, as Alpine's is: its file names the loader it needs. */
function onMusl(): boolean {
  if (system !== "linux") return false;
  try {
    const file = openSync(ownProgram, "r");
    const head = new Uint8Array(4096);
    readSync(file, head, 0, head.length, 0);
    closeSync(file);
    return String.fromCharCode(...head).includes("/ld-musl-");
  } catch {
    return false;
  }
}

/** What the addon for this machine is called: `linux-x64`, `linux-arm64-musl`, `darwin-arm64`. */
export function addonName(
  machine: { platform: string; arch: string; musl: boolean } = {
    platform: system,
    arch: architecture,
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

// Modules that are read as files. Apart from modules.ts, because in a browser tab they need its tree of files (10 KB),
// which a thread of the engine can do without.
import { readFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { gzipSync } from "node:zlib";
import { addressOf } from "./addresses.js";
import { packagePath } from "./modules.js";

/** From Node 22.15 on; `register`, which older ones have alone, warns from Node 26 on. */
const { registerHooks } = nodeModule as { registerHooks?: (hooks: object) => void };

let registered: Promise<void> | undefined;

async function registerOnce(): Promise<void> {
  const hooks = addressOf(packagePath("dist/src/base/modules/hooks.js"));
  if (!registerHooks) {
    nodeModule.register(hooks);
    return;
  }
  const { load, resolveNow } = (await import(hooks)) as Record<"load" | "resolveNow", unknown>;
  registerHooks({ load, resolve: resolveNow });
}

/** Imports a module that somebody names by its address; the package's hooks take TypeScript's types out. */
export async function importAddress(address: string): Promise<Record<string, unknown>> {
  await (registered ??= registerOnce());
  return (await import(address)) as Record<string, unknown>;
}

/** A package's script, packed by gzip, as base64. */
export function packedPackage(name: string): string {
  return gzipSync(readFileSync(nodeModule.createRequire(import.meta.url).resolve(name)), {
    level: 9,
  }).toString("base64");
}

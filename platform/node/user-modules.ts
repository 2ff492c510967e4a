import { register } from "node:module";
import { addressOf } from "./addresses.js";
import { packagePath } from "./package-path.js";

let isRegistered = false;

/** Imports a module that somebody names by its address; the package's hooks take TypeScript's types out. */
export function importAddress(address: string): Promise<Record<string, unknown>> {
  if (!isRegistered) {
    isRegistered = true;
    register(addressOf(packagePath("dist/src/modules/hooks.js")));
  }
  return import(address) as Promise<Record<string, unknown>>;
}

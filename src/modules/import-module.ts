import { register } from "node:module";
import { expectUserCode, running } from "../watch/index.js";

let isRegistered = false;

/**
 * Imports a module that a configuration names: JavaScript, or TypeScript (`.ts`, `.mts`), whose types are
 * left out and not checked. It may import `arpo-lab` from any folder.
 */
export async function importModule(specifier: string): Promise<Record<string, unknown>> {
  await expectUserCode();
  if (!isRegistered) {
    isRegistered = true;
    register("./hooks.js", import.meta.url);
  }
  return running(
    `the module ${specifier}`,
    () => import(specifier) as Promise<Record<string, unknown>>,
  );
}

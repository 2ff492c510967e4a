import { register } from "node:module";

let isRegistered = false;

/**
 * Imports a module that a configuration names: JavaScript, or TypeScript (`.ts`, `.mts`), whose types are
 * left out and not checked. It may import `arpo-lab` from any folder.
 */
export async function importModule(specifier: string): Promise<Record<string, unknown>> {
  if (!isRegistered) {
    isRegistered = true;
    register("./hooks.js", import.meta.url);
  }
  return (await import(specifier)) as Record<string, unknown>;
}

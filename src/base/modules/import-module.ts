import { importAddress } from "#platform/module-files";
import { expectUserCode, running } from "../watch/running.js";

/**
 * Imports a module that a configuration names: JavaScript, or TypeScript (`.ts`, `.mts`), whose types are
 * left out and not checked. It may import `arpo-lab` from any folder.
 */
export async function importModule(specifier: string): Promise<Record<string, unknown>> {
  await expectUserCode();
  return running(`the module ${specifier}`, () => importAddress(specifier));
}

import { importAddress } from "#platform/module-files";
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { aside } from "../terminal/say.js";

/**
 * Runs a program as `node FILE` would, in TypeScript too, on every version of Node: types are left out, not
 * checked, and `arpo-lab` is this package where the file's own folder has none.
 */
export async function runProgram(file: string, args: readonly string[]): Promise<void> {
  let path: string;
  try {
    path = await realpath(resolve(file));
  } catch {
    aside(`Cannot run a program: the file must be there, got ${file}`);
    process.exitCode = 2;
    return;
  }
  process.argv = [process.argv[0]!, path, ...args];
  process.setSourceMapsEnabled(true);
  try {
    await importAddress(pathToFileURL(path).href);
  } catch (error) {
    aside(error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exitCode = 1;
  }
}

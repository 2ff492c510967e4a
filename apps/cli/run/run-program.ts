import { importAddress } from "#platform/module-files";
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { liveLines } from "../terminal/live-lines.js";
import { aside } from "../terminal/say.js";

/**
 * Runs a program as `node FILE` would, in TypeScript too, on every version of Node: types are checked first, unless
 * `check` is false, and `arpo-lab` is this package where the file's own folder has none.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  { check = true }: { check?: boolean } = {},
): Promise<void> {
  let path: string;
  try {
    path = await realpath(resolve(file));
  } catch {
    aside(`Cannot run a program: the file must be there, got ${file}`);
    process.exitCode = 2;
    return;
  }
  if (check && /\.m?ts$/.test(path)) {
    const { typeErrorsOf } = await import("./check-program.js");
    const live = liveLines(process.stderr);
    live.set("checking types …");
    const errors = typeErrorsOf(path);
    live.set("");
    if (errors.length > 0) {
      for (const error of errors) aside(error);
      aside(`Cannot run ${file}: its types must hold; --no-check runs it as it is`);
      process.exitCode = 1;
      return;
    }
  }
  process.argv = [process.argv[0]!, path, ...args];
  process.setSourceMapsEnabled(true);
  try {
    await importAddress(pathToFileURL(path).href);
  } catch (error) {
    // With what caused it: there the line of the program's own code may stand.
    aside(inspect(error));
    process.exitCode = 1;
  }
}

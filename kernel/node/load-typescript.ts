// Loading typescript.js costs a kernel's start 0.15 s and 30 MB. The build leaves a copy without
// comments and white space, and the first session leaves V8's compiled form of it: 0.06 s and 15 MB.
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import vm from "node:vm";
import { makeFolderSync, writeDurablySync } from "../../common/files/durable.js";
import { cacheFolder } from "../host/cache-folder.js";

let unsaved: { script: vm.Script; name: string } | undefined;

/** Runs the build's copy of typescript.js. */
export function loadTypeScript(): unknown {
  const require = createRequire(import.meta.url);
  const path = require.resolve("#typescript");
  const { version, digest } = require("#typescript/package.json") as Record<string, string>;
  // The copy is plain ASCII, so this is also its text, at one byte a character.
  const text = readFileSync(path, "latin1");
  // V8 takes a form of any text of the same length.
  const name = `typescript-${version}-${digest}-${process.version}-${process.arch}.v8`;
  const cachedData = readOwn(join(cacheFolder(), name));
  const script = new vm.Script(
    `(function (exports, require, module, __filename, __dirname) {${text}\n})`,
    { filename: path, cachedData },
  );
  if (cachedData === undefined || script.cachedDataRejected === true) unsaved = { script, name };
  const module = { exports: {} };
  const run = script.runInThisContext() as (...args: unknown[]) => void;
  run(module.exports, require, module, path, dirname(path));
  return module.exports;
}

/** Keeps V8's compiled form for the next start. Called when there is nothing else to do. */
export function saveCodeCache(): void {
  if (unsaved === undefined) return;
  const { script, name } = unsaved;
  unsaved = undefined;
  const data = script.createCachedData();
  const folder = cacheFolder();
  try {
    makeFolderSync(folder);
    writeDurablySync(join(folder, name), data, { mode: 0o600 });
  } catch {
    // A home folder that cannot be written: each start compiles anew.
  }
}

/** A file that nobody else could have written, for what is read here is run; undefined for any other. */
function readOwn(path: string): Buffer | undefined {
  try {
    for (const place of [path, dirname(path)]) {
      const { uid, mode } = statSync(place);
      const isOwn = process.getuid === undefined || uid === process.getuid();
      if (!isOwn || (process.platform !== "win32" && (mode & 0o022) !== 0)) return undefined;
    }
    return readFileSync(path);
  } catch {
    return undefined; // the first start of this version
  }
}

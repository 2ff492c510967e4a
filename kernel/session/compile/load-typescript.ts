// Loading typescript.js costs a kernel's start 0.15 s and 30 MB. The build leaves a copy without
// comments and white space, and the first session leaves V8's compiled form of it: 0.06 s and 15 MB.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import vm from "node:vm";
import { isFile, packageFolder } from "./package-folder.js";

let unsaved: { script: vm.Script; name: string } | undefined;

/** Runs typescript.js, from the build's copy where there is one. */
export function loadTypeScript(): unknown {
  const require = createRequire(import.meta.url);
  const stock = require.resolve("typescript");
  const { version } = require("typescript/package.json") as { version: string };
  const copy = join(packageFolder, `dist/vendor/typescript-${version}.cjs`);
  if (!isFile(copy)) return require("typescript");
  // The copy is plain ASCII, so this is also its text, at one byte a character.
  const text = readFileSync(copy, "latin1");
  const name = `typescript-${version}-${process.version}-${process.arch}.v8`;
  const cachedData = cacheFolders()
    .map((folder) => readIfThere(join(folder, name)))
    .find((data) => data !== undefined);
  const script = new vm.Script(
    `(function (exports, require, module, __filename, __dirname) {${text}\n})`,
    { filename: copy, cachedData },
  );
  if (cachedData === undefined || script.cachedDataRejected === true) unsaved = { script, name };
  const module = { exports: {} };
  const run = script.runInThisContext() as (...args: unknown[]) => void;
  run(module.exports, require, module, stock, dirname(stock));
  return module.exports;
}

/** Keeps V8's compiled form for the next start. Called when there is nothing else to do. */
export function saveCodeCache(): void {
  if (unsaved === undefined) return;
  const { script, name } = unsaved;
  unsaved = undefined;
  const data = script.createCachedData();
  for (const folder of cacheFolders()) {
    try {
      mkdirSync(folder, { recursive: true });
      const temporary = join(folder, `${name}.${process.pid}`);
      writeFileSync(temporary, data, { mode: 0o600 });
      renameSync(temporary, join(folder, name));
      return;
    } catch {
      continue; // a package installed by somebody else: the home folder is next, or no cache at all
    }
  }
}

/** Only folders that others cannot write to: what is read there is run. */
function cacheFolders(): string[] {
  const home = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  return [join(packageFolder, "dist/vendor"), join(home, "arpo-lab")];
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined; // the first start of this version
  }
}

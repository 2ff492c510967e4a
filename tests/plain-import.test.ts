import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { promisify } from "node:util";

/** Prints the files that an import reads, CommonJS ones included, as a JSON array of addresses. */
const trace = `
import Module, { register } from "node:module";
import { pathToFileURL } from "node:url";
const { port1, port2 } = new MessageChannel();
const hook = \`let port;
export function initialize(data) { port = data.port; }
export function load(url, context, next) { port.postMessage(url); return next(url, context); }\`;
register("data:text/javascript," + encodeURIComponent(hook), {
  data: { port: port2 },
  transferList: [port2],
});
const read = new Set();
port1.on("message", (url) => read.add(url));
const [, specifier, ...words] = process.argv;
process.argv = [process.argv[0], specifier, ...words];
let ended = () => undefined;
const { exit } = process;
process.exit = () => ended(); // a command ends itself: what it read is told first
await Promise.race([import(specifier), new Promise((resolve) => (ended = resolve))]);
process.exit = exit;
await import("data:text/javascript,"); // the last message: all before it have arrived
while (![...read].some((url) => url.startsWith("data:"))) await new Promise(setImmediate);
for (const path of Object.keys(Module._cache)) read.add(pathToFileURL(path).href);
port1.close();
console.log(JSON.stringify([...read]));
`;

/** Where a command is run, `words` are its own. */
async function filesReadBy(specifier: string, ...words: string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "-e", trace, "--", specifier, ...words],
    { cwd: fileURLToPath(new URL("../..", import.meta.url)) },
  );
  return JSON.parse(stdout.trim().split("\n").at(-1)!) as string[];
}

/** The packages among some files, each once. */
function packagesOf(files: readonly string[]): string[] {
  const names = files.flatMap(
    (url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? [],
  );
  return [...new Set(names)].sort();
}

test('import "arpo-lab" reads no package from its folder: they wait until they are used', async () => {
  const files = await filesReadBy("arpo-lab");
  assert.ok(files.some((url) => url.endsWith("/dist/src/api/index.js")));
  assert.ok(files.some((url) => url.endsWith("/dist/vendor/tfjs.mjs")));
  assert.deepEqual(packagesOf(files), []);
  assert.deepEqual(
    files.filter((url) =>
      /\/dist\/vendor\/typescript|\/dist\/(kernel|apps|src\/interop\/serve)\//.test(url),
    ),
    [],
  );
});

test("filesReadBy() sees a package's CommonJS and its modules", async () => {
  assert.deepEqual(packagesOf(await filesReadBy("node-sqlite3-wasm")), ["node-sqlite3-wasm"]);
  assert.deepEqual(packagesOf(await filesReadBy("zod")), ["zod"]);
});

/** Files and their bytes. */
function sizeOf(urls: readonly string[]): { files: string[]; bytes: number } {
  const files = urls.filter((url) => url.startsWith("file:"));
  return {
    files,
    bytes: files.reduce((sum, url) => sum + statSync(fileURLToPath(url)).size, 0),
  };
}

test('import "arpo-lab" reads at most 735 files with 4.3 MB', async () => {
  const { files, bytes } = sizeOf(await filesReadBy("arpo-lab"));
  assert.ok(files.length > 100 && files.length <= 735, `${files.length} files`);
  assert.ok(bytes <= 4.3e6, `${bytes} bytes`);
});

test("arpo-lab --help reads at most 40 files with 200 kB, and commander alone of the packages", async () => {
  const bin = new URL("../../apps/cli/bin/arpo-lab.mjs", import.meta.url).href;
  const { files, bytes } = sizeOf(await filesReadBy(bin, "--help"));
  assert.ok(files.some((url) => url.endsWith("/dist/apps/cli/program.js")));
  assert.ok(files.length <= 40, `${files.length} files`);
  assert.ok(bytes <= 200_000, `${bytes} bytes`);
  assert.deepEqual(packagesOf(files), ["commander"]);
});

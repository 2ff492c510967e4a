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
await import(process.argv[1]);
await import("data:text/javascript,"); // the last message: all before it have arrived
while (![...read].some((url) => url.startsWith("data:"))) await new Promise(setImmediate);
for (const path of Object.keys(Module._cache)) read.add(pathToFileURL(path).href);
port1.close();
console.log(JSON.stringify([...read]));
`;

async function filesReadBy(specifier: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "-e", trace, specifier],
    { cwd: fileURLToPath(new URL("../..", import.meta.url)) },
  );
  return JSON.parse(stdout) as string[];
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
    files.filter((url) => /\/dist\/vendor\/typescript|\/dist\/(kernel|cli|src\/serve)\//.test(url)),
    [],
  );
});

test("filesReadBy() sees a package's CommonJS and its modules", async () => {
  assert.deepEqual(packagesOf(await filesReadBy("node-sqlite3-wasm")), ["node-sqlite3-wasm"]);
  assert.deepEqual(packagesOf(await filesReadBy("zod")), ["zod"]);
});

test('import "arpo-lab" reads at most 650 files with 4 MB', async () => {
  const files = (await filesReadBy("arpo-lab")).filter((url) => url.startsWith("file:"));
  const bytes = files.reduce((sum, url) => sum + statSync(fileURLToPath(url)).size, 0);
  assert.ok(files.length > 100 && files.length <= 650, `${files.length} files`);
  assert.ok(bytes <= 4e6, `${bytes} bytes`);
});

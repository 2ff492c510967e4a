// How SQLite (node-sqlite3-wasm) is packed for a browser tab: its files are the tab's own files.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "./bundle.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What it asks of Node, on a tab's files; it works in memory and opens files for caches alone. */
const files = `import * as files from "#platform/files";
const none = () => { throw new Error("Cannot open a database: a browser tab keeps databases in memory"); };
export const readFileSync = files.readFileSync;
export const constants = { O_RDONLY: 0, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, R_OK: 4, W_OK: 2, F_OK: 0 };
export const accessSync = none, openSync = none, closeSync = none, fstatSync = none, fsyncSync = none;
export const ftruncateSync = none, mkdirSync = none, rmdirSync = none, unlinkSync = none;
export const readSync = none, writeSync = none;`;
const stands = {
  "node:fs": files,
  "node:path": `export * from "#platform/path";`,
  "node:crypto": `export const randomFillSync = (bytes) => crypto.getRandomValues(bytes);`,
};

const standIns = {
  name: "stand-ins",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: "stand-in" }));
    onLoad({ filter: /.*/, namespace: "stand-in" }, ({ path }) => {
      if (!(path in stands)) throw new Error(`Cannot pack SQLite: ${path} must have a stand-in`);
      return { contents: stands[path], resolveDir: root };
    });
  },
};

/** Where its WebAssembly is among the package's files. */
export const sqliteWasm = "node_modules/node-sqlite3-wasm/dist/node-sqlite3-wasm.wasm";

/** Packs SQLite for a tab into `outfile`. */
export async function packSqlite(outfile) {
  const { version } = JSON.parse(
    readFileSync(join(root, "node_modules/node-sqlite3-wasm/package.json"), "utf8"),
  );
  await build({
    stdin: {
      contents: `import sqlite from "node-sqlite3-wasm"; export const { Database, SQLite3Error } = sqlite;`,
      resolveDir: root,
    },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "es2022",
    minify: true,
    logLevel: "error",
    external: ["#platform/*"],
    define: {
      __dirname: JSON.stringify("/lab/vendor"),
      "process.argv": "[]",
      "process.platform": '"linux"',
    },
    banner: { js: `// node-sqlite3-wasm ${version}` },
    plugins: [standIns],
  });
  writeFileSync(
    outfile.replace(/\.mjs$/, ".d.mts"),
    `export { Database, SQLite3Error } from "node-sqlite3-wasm";\n`,
  );
}

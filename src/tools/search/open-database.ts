import { createRequire } from "node:module";
import type * as Sqlite from "node-sqlite3-wasm";

const require = createRequire(import.meta.url);

/** Opens an SQLite database, in memory without a path; the first call loads SQLite. */
export function openDatabase(path?: string, options?: { readOnly: boolean }): Sqlite.Database {
  const { Database } = require("node-sqlite3-wasm") as typeof Sqlite;
  return new Database(path, options);
}

import { sqlite } from "#platform/packages";
import type * as Sqlite from "node-sqlite3-wasm";

/** Opens an SQLite database, in memory without a path; the first call loads SQLite. */
export function openDatabase(path?: string, options?: { readOnly: boolean }): Sqlite.Database {
  const { Database } = sqlite();
  return new Database(path, options);
}

import { createRequire } from "node:module";
import { join } from "node:path";
import { type RowsOptions, toRows } from "./to-rows.js";

/** A danfojs DataFrame, as far as it is known here: the package is not always there. */
export interface Frame {
  readonly shape: [number, number];
  readonly columns: string[];
  readonly values: unknown[];
  toString(): string;
}

interface Danfo {
  DataFrame: new (rows: unknown[], options?: { columns?: string[] }) => Frame;
}

const packages = ["danfojs-node", "danfojs"];

/** danfojs where this package or the working folder has it. */
function load(): Danfo {
  const problems: string[] = [];
  for (const from of [import.meta.url, join(process.cwd(), "index.js")]) {
    const require = createRequire(from);
    for (const name of packages) {
      try {
        return require(name) as Danfo;
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        const absent = code === "MODULE_NOT_FOUND" && message.includes(`'${name}'`);
        // There and broken is not the same as not there.
        if (!absent) problems.push(`${name}: ${message.split("\n")[0]}`);
      }
    }
  }
  throw new Error(
    `Cannot make a frame: one of ${packages.join(", ")} must be installed, got ${problems.join("; ") || "neither"}. \`npm install danfojs\` with "overrides": {"xlsx": "npm:xlsx@0.18.5"} in package.json; toRows(value) gives the same table without it`,
  );
}

/**
 * Any value of the toolkit as a danfojs DataFrame: what `toRows` gives, as columns. danfojs is optional;
 * where it is missing the error says what to install.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { toFrame } from "arpo-lab/view";
 *
 * try {
 *   const frame = toFrame([{ step: 1, loss: 0.5 }]);
 *   assert.deepEqual(frame.columns, ["step", "loss"]);
 * } catch (error) {
 *   assert.match(String(error), /danfojs-node, danfojs must be installed/);
 * }
 * ```
 */
export function toFrame(value: unknown, options: RowsOptions = {}): Frame {
  const { DataFrame } = load();
  const rows = toRows(value, options);
  const columns = Object.keys(rows[0] ?? {});
  // Given as lists: rows of objects are read cell by cell, and slowly.
  return new DataFrame(
    rows.map((row) => columns.map((name) => row[name])),
    { columns },
  );
}

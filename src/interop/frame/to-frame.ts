import { DataFrame } from "./danfo.js";
import { type RowsOptions, toRows } from "./to-rows.js";

/**
 * Any value of the toolkit as a danfojs DataFrame: what `toRows` gives, as columns. A frame of another copy of
 * danfojs becomes one of this.
 *
 * @param value a tree, scores, a batch, a report, a run or plain rows
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { toFrame } from "arpo-lab/view";
 *
 * const frame = toFrame([
 *   { step: 1, loss: 0.5 },
 *   { step: 2, loss: 0.25 },
 * ]);
 * assert.deepEqual(frame.columns, ["step", "loss"]);
 * assert.equal(frame.column("loss").mean(), 0.375);
 * ```
 */
export function toFrame(value: unknown, options: RowsOptions = {}): DataFrame {
  if (value instanceof DataFrame) return value;
  const rows = toRows(value, options);
  const columns = Object.keys(rows[0] ?? {});
  // Given as lists: rows of objects are read cell by cell, and slowly.
  return new DataFrame(
    rows.map((row) => columns.map((name) => row[name])),
    { columns },
  );
}

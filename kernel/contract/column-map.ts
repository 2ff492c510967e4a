/**
 * Where the columns of `js` come from when its lines are those of `source`, one further down. By line of
 * the source (from 1): `[column in js, column in the source, 1 where text was copied and 0 where it was
 * written instead]`, each up to the next. A fourth number is the line in the source of text that was
 * written on another.
 */
export interface ColumnMap {
  columns: Record<number, ColumnRun[]>;
}

type ColumnRun = [to: number, from: number, copied: 0 | 1, line?: number];

/** The source of a place: lines from 1, columns from 0. `run` is where in its line's list it was found. */
export function sourceOf(
  { columns }: ColumnMap,
  line: number,
  column: number,
): { line: number; column: number; run: number } {
  const runs = columns[line] ?? [];
  const run = runs.findLastIndex(([to]) => to <= column);
  if (run < 0) return { line, column, run };
  const [to, from, copied, elsewhere = line] = runs[run]!;
  return { line: elsewhere, column: copied ? from + column - to : from, run };
}

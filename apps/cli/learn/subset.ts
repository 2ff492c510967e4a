import { extname } from "node:path";
import { writeFile } from "node:fs/promises";
import { type DataRow, readRows } from "../../../src/tasks/read-rows.js";
import { Random } from "../../../src/base/random/random.js";
import { say } from "../terminal/say.js";

/** How often each value of a column occurs, in words. */
function counts(rows: readonly DataRow[], column: string): string {
  const found = new Map<string, number>();
  for (const row of rows) {
    const value = String(row[column] ?? "none");
    found.set(value, (found.get(value) ?? 0) + 1);
  }
  return [...found]
    .sort()
    .map(([value, n]) => `${n} ${value}`)
    .join(", ");
}

/** Draws rows so that each value of a column keeps its share, and at least one row where there is room. */
function draw(rows: readonly DataRow[], count: number, column: string, random: Random): DataRow[] {
  const groups = new Map<string, DataRow[]>();
  for (const row of random.shuffle(rows)) {
    const value = String(row[column] ?? "none");
    groups.set(value, [...(groups.get(value) ?? []), row]);
  }
  // Row i of a group of n stands at (i + 1/2) / n of it; the first rows of all groups come first.
  return [...groups.values()]
    .flatMap((group) =>
      group.map((row, i) => ({ row, at: i === 0 ? 0 : (i + 0.5) / group.length })),
    )
    .sort((a, b) => a.at - b.at)
    .slice(0, count)
    .map(({ row }) => row);
}

/** `arpo-lab subset`: a seeded sample of a data set's rows, as they are. */
export async function writeSubset(
  from: string,
  to: string,
  options: { rows: number; seed: number; by: string },
): Promise<void> {
  if (extname(to) !== ".jsonl") {
    throw new RangeError(`Cannot cut a toy set: the file must end in .jsonl, got ${to}`);
  }
  const rows = await readRows(from);
  const random = Random.from(options.seed).split("toy");
  const chosen = draw(rows, options.rows, options.by, random);
  await writeFile(to, chosen.map((row) => `${JSON.stringify(row)}\n`).join(""));
  say(`${chosen.length} of ${rows.length} rows: ${to}`);
  say(`  by ${options.by}: ${counts(chosen, options.by)}`);
  say(`Sample answers to them: arpo-lab sample data.val_files=${to}`);
}

import { writeFile } from "node:fs/promises";
import { readRows } from "../../src/data/index.js";
import { Random } from "../../src/random/index.js";

/** `arpo-lab toy`: a seeded sample of a data set's rows, as they are. */
export async function cutToy(
  from: string,
  to: string,
  options: { rows: number; seed: number },
): Promise<void> {
  const rows = await readRows(from);
  const chosen = Random.from(options.seed).split("toy").shuffle(rows).slice(0, options.rows);
  await writeFile(to, chosen.map((row) => `${JSON.stringify(row)}\n`).join(""));
  console.log(`${chosen.length} of ${rows.length} rows: ${to}`);
}

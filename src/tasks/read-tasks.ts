import { checkArguments } from "../../common/options/check-arguments.js";
import { checkOptions } from "../../common/options/check-options.js";
import { readRows } from "./read-rows.js";
import { type RlRowOptions, rlRowRules, taskFromRow } from "./rl-row.js";
import type { Task } from "./task.js";

/**
 * Reads the tasks of one or more files, parquet as published, JSONL, JSON or CSV. Ids that occur twice
 * (the published files number their rows anew) get the file's place put before them.
 *
 * @param files one path, or several that are read as one list
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { writeFile, mkdtemp } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { readTasks } from "arpo-lab/run";
 *
 * const file = (await mkdtemp(tmpdir() + "/tasks-")) + "/toy.jsonl";
 * await writeFile(file, JSON.stringify({ question: "1+1?", answer: "2" }) + "\n");
 * assert.equal((await readTasks(file))[0].groundTruth, "2");
 * ```
 */
export async function readTasks(
  files: string | readonly string[],
  options: RlRowOptions = {},
): Promise<Task[]> {
  checkArguments("read tasks", { files }, { files: typeof files === "string" ? "path" : "list" });
  checkOptions("read tasks", options, rlRowRules);
  const lists = await Promise.all(
    (typeof files === "string" ? [files] : files).map(async (file) =>
      (await readRows(file)).map((row, i) => taskFromRow(row, i, options)),
    ),
  );
  const seen = new Set<string>();
  return lists.flatMap((tasks, place) =>
    tasks.map((task, i) => {
      const id = seen.has(task.id) ? `${place}:${i}:${task.id}` : task.id;
      seen.add(id);
      return id === task.id ? task : { ...task, id };
    }),
  );
}

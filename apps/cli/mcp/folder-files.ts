import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readable } from "../../../src/formats/read/file-kinds.js";
import { Paths } from "../../../kernel/server/contents/paths.js";

/** Files and entries that are looked at for a list. */
const [mostFiles, mostEntries, deepest] = [100, 5000, 5];

/** What runs, models and packages have beside their rollouts. */
const logs =
  /^(?:metrics|timing|tool_calls|trainer_log|log|trees\.sums)\.jsonl$|^(?:train|test|val)\w*\.parquet$|(?:^|[._-])(?:config|package|package-lock|tsconfig|tokenizer|index|map|recipe|report|summary)\.json$/;

/** The place of a file of the lab's folder; refuses what is hidden, what leads outside and what is not there. */
export async function fileIn(folder: string, path: string): Promise<string> {
  const paths = new Paths(folder);
  const tidy = Paths.tidy(path);
  try {
    await paths.use(tidy, "target", async (place) => void place.existing());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new RangeError(`Cannot read ${path}: it must be in the lab's folder, ${folder}`, {
      cause: error,
    });
  }
  return join(paths.root, tidy);
}

/** Files below a folder that may hold rollouts. Links are not followed, hidden folders and packages not entered. */
export async function rolloutFiles(folder: string): Promise<{ files: string[]; more: boolean }> {
  const files: string[] = [];
  let entries = 0;
  const walk = async (below: string, depth: number): Promise<void> => {
    const names = await readdir(join(folder, below), { withFileTypes: true }).catch(() => []);
    for (const entry of names.sort((a, b) =>
      a.name.localeCompare(b.name, "en", { numeric: true }),
    )) {
      if (++entries > mostEntries || files.length > mostFiles) return;
      const { name } = entry;
      if (name.startsWith(".") || name === "node_modules") continue;
      const path = below === "" ? name : `${below}/${name}`;
      if (entry.isDirectory() && depth < deepest) await walk(path, depth + 1);
      else if (entry.isFile() && readable.test(name) && !logs.test(name)) files.push(path);
    }
  };
  await walk("", 1);
  const more = files.length > mostFiles || entries > mostEntries;
  return { files: files.slice(0, mostFiles), more };
}

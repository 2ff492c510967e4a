// A run notes of each file of trees what it was when it was saved, in a log beside the folder of the files.
import { basename, dirname, join, resolve } from "#platform/path";
import { differenceOf, type FileSum, sumOf } from "../../files/file-sum.js";
import { readIfThere } from "../../files/read-if-there.js";

/** The log of sums in a run folder. */
export const treeSums = "tree_sums.jsonl";

/** What the log says of a file. */
export interface TreeSum extends FileSum {
  step: number;
  /** Its name in the run folder. */
  file: string;
}

export async function treeSum(run: string, step: number, file: string): Promise<TreeSum> {
  return { step, file, ...(await sumOf(join(run, file))) };
}

/** The last line of a log for each file; lines that are damaged themselves say nothing. */
async function sumsOf(run: string): Promise<Map<string, TreeSum>> {
  const sums = new Map<string, TreeSum>();
  for (const line of ((await readIfThere(join(run, treeSums))) ?? "").split("\n")) {
    try {
      const sum = JSON.parse(line) as TreeSum | null;
      if (typeof sum?.file === "string") sums.set(sum.file, sum);
    } catch {
      // The end of a line that was being written.
    }
  }
  return sums;
}

/** Refuses trees of a run that are not as they were saved. */
export async function checkTrees(path: string): Promise<void> {
  const folder = dirname(resolve(path));
  const saved = (await sumsOf(dirname(folder))).get(`${basename(folder)}/${basename(path)}`);
  const got = saved && (await differenceOf(path, saved));
  if (got !== undefined) {
    throw new Error(`Cannot load trees: ${path} must be as it was saved, got ${got}`);
  }
}

/** What is damaged among the trees of a run, in words. */
export async function damagedTrees(run: string): Promise<string[]> {
  const found: string[] = [];
  for (const [file, sum] of await sumsOf(run)) {
    const got = await differenceOf(join(run, file), sum);
    if (got !== undefined) {
      found.push(
        `${file} of ${run} must be as it was saved, got ${got}; training does not need it`,
      );
    }
  }
  return found;
}

// A run notes of each file of trees what it was when it was saved, in a log beside the folder of the files.
import { basename, dirname, join, resolve } from "#platform/path";
import { differenceOf, type FileSum, sumOf } from "../../base/files/file-sum.js";
import { readIfThere } from "../../base/files/read-if-there.js";

/** The log of sums in a run folder. */
export const treeSums = "tree_sums.jsonl";

/** What the log says of a file. */
interface TreeSum extends FileSum {
  step: number;
  /** Its name in the run folder. */
  file: string;
}

export async function treeSum(run: string, step: number, file: string): Promise<TreeSum> {
  return { step, file, ...(await sumOf(join(run, file))) };
}

/** The last line of a log for each file, and the numbers of lines that are damaged themselves. */
async function sumsOf(run: string): Promise<{ sums: Map<string, TreeSum>; damaged: number[] }> {
  const sums = new Map<string, TreeSum>();
  const damaged: number[] = [];
  const lines = ((await readIfThere(join(run, treeSums))) ?? "").split("\n");
  for (const [i, line] of lines.slice(0, -1).entries()) {
    const sum = parsed(line);
    if (sum === undefined) damaged.push(i + 1);
    else sums.set(sum.file, sum);
  }
  return { sums, damaged };
}

function parsed(line: string): TreeSum | undefined {
  try {
    const sum = JSON.parse(line) as Partial<TreeSum> | null;
    const names = ["bytes", "file", "sha256", "step"];
    const isSum = names.every((name) => name in sum!) && /^[0-9a-f]{64}$/.test(String(sum!.sha256));
    return isSum ? (sum as TreeSum) : undefined;
  } catch {
    return undefined;
  }
}

/** Refuses trees of a run that are not as they were saved. */
export async function checkTrees(path: string): Promise<void> {
  const folder = dirname(resolve(path));
  const saved = (await sumsOf(dirname(folder))).sums.get(`${basename(folder)}/${basename(path)}`);
  const got = saved && (await differenceOf(path, saved));
  if (got !== undefined) {
    throw new Error(`Cannot load trees: ${path} must be as it was saved, got ${got}`);
  }
}

/** What is damaged among the trees of a run, in words. */
export async function damagedTrees(run: string): Promise<string[]> {
  const { sums, damaged } = await sumsOf(run);
  const found: string[] = [];
  if (damaged.length > 0) {
    found.push(
      `${treeSums} of ${run} must have a checksum in every line, got other contents in line ${damaged.join(", ")}; trees of those lines are not checked; training does not need it`,
    );
  }
  for (const [file, sum] of sums) {
    const got = await differenceOf(join(run, file), sum);
    if (got !== undefined) {
      found.push(
        `${file} of ${run} must be as it was saved, got ${got}; training does not need it`,
      );
    }
  }
  return found;
}

import { checkArguments } from "../../../common/options/check-arguments.js";
import { writeDurably } from "../../../common/files/durable.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { readFile } from "#platform/files";
import { extname } from "#platform/path";
import type { RolloutTree } from "../rollout-tree.js";
import type { RolloutTask } from "../task.js";

/**
 * Writes trees to a file: JSON lines or parquet, by its extension.
 *
 * @param path the file; `.jsonl` or `.parquet`
 * @param trees the trees to write
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp, rm } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { loadTrees, rollout, saveTrees } from "arpo-lab/rollout";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 *
 * const folder = await mkdtemp(join(tmpdir(), "trees-"));
 * const tree = await rollout(new ScriptedPolicy(() => ({ text: "4\u0001" })), { prompt: "2+2" });
 * await saveTrees(join(folder, "trees.parquet"), [tree]);
 * assert.equal((await loadTrees(join(folder, "trees.parquet")))[0].trajectories[0].text, "4");
 * await rm(folder, { recursive: true });
 * ```
 */
export async function saveTrees(
  path: string,
  trees: Iterable<RolloutTree>,
  options: {
    /**
     * Write how long calls took, too. Without it the same trees give the same bytes. Default: true.
     */
    timing?: boolean;
  } = {},
): Promise<void> {
  checkArguments("save trees", { path, trees }, { path: "path", trees: "items" });
  checkOptions("save trees", options, { timing: "boolean?" });
  const format = formatOf(path, "save");
  const { treesToJsonl, treesToParquet } = await formats();
  const bytes =
    format === ".parquet"
      ? new Uint8Array(await treesToParquet(trees, options))
      : treesToJsonl(trees, options);
  await writeDurably(path, bytes);
}

/**
 * Reads trees that `saveTrees` wrote.
 *
 * @param path the file to read; `.jsonl` or `.parquet`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { loadTrees } from "arpo-lab/rollout";
 *
 * await assert.rejects(loadTrees("trees.csv"), /must end in .jsonl or .parquet, got trees.csv/);
 * ```
 */
export async function loadTrees<T extends RolloutTask = RolloutTask>(
  path: string,
): Promise<RolloutTree<T>[]> {
  checkArguments("load trees", { path }, { path: "path" });
  const format = formatOf(path, "load");
  const { checkTrees, treesFromJsonl, treesFromParquet } = await formats();
  await checkTrees(path);
  if (format === ".jsonl") return treesFromJsonl(await readFile(path, "utf8"));
  const { buffer, byteOffset, byteLength } = await readFile(path);
  return treesFromParquet(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer);
}

/** What reads and writes the formats: nobody who has no file needs it. */
const formats = async () => ({
  ...(await import("./tree-sums.js")),
  ...(await import("./tree-jsonl.js")),
  ...(await import("./tree-parquet.js")),
});

function formatOf(path: string, action: string): string {
  const format = extname(path);
  if (format === ".jsonl" || format === ".parquet") return format;
  throw new RangeError(
    `Cannot ${action} trees: the file name must end in .jsonl or .parquet, got ${path}`,
  );
}

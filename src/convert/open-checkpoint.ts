import { checkArguments } from "../arguments/check-arguments.js";
import { readdir } from "#platform/files";
import { isGguf } from "../model/files/gguf/is-gguf.js";
import { openFolder } from "./open-folder.js";
import { openGguf } from "./open-gguf.js";
import { openShards } from "./open-shards.js";
import type { WeightSource } from "./weight-source.js";

/**
 * Opens a checkpoint by what its folder holds, verl's shards or a Hugging Face model, or a `.gguf` file.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { openCheckpoint } from "arpo-lab/experimental/convert";
 *
 * await assert.rejects(openCheckpoint("src"), /must hold/);
 * ```
 */
export async function openCheckpoint(folder: string): Promise<WeightSource> {
  checkArguments("open a checkpoint", { folder }, { folder: "path" });
  if (isGguf(folder)) return openGguf(folder);
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    throw new RangeError(
      `Cannot open a checkpoint: ${folder} must be a folder, got ${error.code}`,
      {
        cause: error,
      },
    );
  });
  const shards = names.some((name) => /^model_world_size_\d+_rank_\d+\.pt$/.test(name));
  return shards ? openShards(folder) : openFolder(folder);
}

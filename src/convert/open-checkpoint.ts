import { readdir } from "#platform/files";
import { checkArguments } from "../arguments/check-arguments.js";
import { isGguf } from "../model/files/gguf/is-gguf.js";
import type { WeightType } from "../model/files/half.js";
import { openModel } from "../model/files/open-model.js";
import type { WeightFile } from "../model/files/weight-file.js";
import { openFolder } from "./open-folder.js";
import { openShards } from "./open-shards.js";
import type { WeightEntry, WeightSource } from "./weight-source.js";

const types: Readonly<Record<string, WeightType>> = {
  F32: "float32",
  F16: "float16",
  BF16: "bfloat16",
};

/** The weights of a GGUF file, unpacked, by Hugging Face's names. */
async function openGguf(path: string): Promise<WeightSource> {
  const files: WeightFile[] = [];
  const { where } = await openModel(path, files);
  const [file] = files as [WeightFile];
  const tensors = new Map<string, WeightEntry>();
  for (const name of [...where.keys()].sort()) {
    const { shape, dtype } = file.tensors.get(name)!;
    tensors.set(name, { shape, type: types[dtype] ?? dtype });
  }
  const [type, ...others] = new Set([...tensors.values()].map((entry) => entry.type));
  return {
    kind: "GGUF file",
    folder: path,
    tensors,
    // Half floats beside float32 vectors, or packed blocks, lose nothing in float32.
    type: others.length === 0 ? Object.values(types).find((one) => one === type) : undefined,
    read: (name) => file.read(name),
    close: () => file.close(),
  };
}

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

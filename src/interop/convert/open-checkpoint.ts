import { readdir } from "#platform/files";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { isGguf } from "../../model/files/gguf/is-gguf.js";
import type { WeightType } from "../../model/files/half.js";
import { openModel } from "../../model/files/open-model.js";
import { openWeights } from "../../model/files/open-weights.js";
import type { SafetensorsFile } from "../../model/files/safetensors-file.js";
import type { WeightFile } from "../../model/files/weight-file.js";
import { openShards } from "./open-shards.js";
import type { WeightEntry, WeightSource } from "./weight-source.js";

const types: Readonly<Record<string, WeightType>> = {
  F32: "float32",
  F16: "float16",
  BF16: "bfloat16",
};

/**
 * The weights of a Hugging Face folder, whole or sharded.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { openFolder } from "arpo-lab/experimental/convert";
 * import { Model, saveModel } from "arpo-lab/model";
 *
 * const folder = await mkdtemp(join(tmpdir(), "arpo-"));
 * const sizes = { vocabSize: 50, hiddenSize: 16, intermediateSize: 32, layers: 1, heads: 2 };
 * await saveModel(Model.init(sizes, 1), folder, { dtype: "bfloat16" });
 * const source = await openFolder(folder);
 * assert.equal(source.type, "bfloat16");
 * assert.deepEqual(source.tensors.get("model.norm.weight")?.shape, [16]);
 * await source.close();
 * ```
 */
export async function openFolder(folder: string): Promise<WeightSource> {
  checkArguments("open a checkpoint", { folder }, { folder: "path" });
  const files: SafetensorsFile[] = [];
  const close = async () => {
    for (const file of files) await file.close();
  };
  try {
    const where = await openWeights(folder, files);
    const tensors = new Map<string, WeightEntry>();
    for (const name of [...where.keys()].sort()) {
      const { shape, dtype } = where.get(name)!.tensors.get(name)!;
      tensors.set(name, { shape, type: types[dtype] ?? dtype });
    }
    const found = new Set([...tensors.values()].map(({ type }) => type));
    const [type] = found;
    const same = found.size === 1 && Object.values(types).includes(type as WeightType);
    return {
      kind: "Hugging Face folder",
      folder,
      tensors,
      type: same ? (type as WeightType) : undefined,
      close,
      async read(name) {
        const file = where.get(name);
        if (!file) throw new RangeError(`Cannot read ${folder}: it must hold ${name}, got none`);
        return file.read(name);
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

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

import { tellTerminal } from "../../base/show/tell-terminal.js";
import {
  above,
  checkOptions,
  oneOf,
  type OptionRules,
} from "../../../common/options/check-options.js";
import { readdir, rm } from "#platform/files";
import { join } from "#platform/path";
import { type WeightType, weightTypes } from "./half.js";
import { shapeSize } from "../transformer/weights.js";
import { type StagedFile, stageFile } from "../../../common/files/durable.js";
import { stageSafetensors, type TensorSource } from "./write-safetensors.js";
import { outputFolder } from "./model-folder.js";

/** How a checkpoint is written. */
export interface SaveModelOptions {
  /** Default float32, which loses nothing. */
  dtype?: WeightType;
  /**
   * The weights are split into files of at most this size (one tensor is never split). Default:
   * 5e9.
   */
  maxShardBytes?: number;
}

export const saveModelRules: OptionRules<SaveModelOptions> = {
  dtype: oneOf(weightTypes),
  maxShardBytes: above(0),
};

const largest = { float32: Infinity, float16: 65519.99, bfloat16: 3.3961775e38 };

/** Values checked: what is broken in memory must not replace what is whole on disk. */
export function checkWritable(values: Float32Array, name: string, dtype: WeightType): Float32Array {
  const limit = largest[dtype];
  for (let i = 0; i < values.length; i++) {
    if (!(Math.abs(values[i]!) < limit)) {
      throw new RangeError(
        `Cannot save a model: weights must be finite in ${dtype}, got ${values[i]} in ${name} at ${i}`,
      );
    }
  }
  return values;
}

/**
 * Writes weights as a Hugging Face folder has them, whole or in shards with an index, and other files
 * beside them. Values are asked for one tensor at a time; old files are replaced only once all new
 * ones are on disk.
 */
export async function writeWeights(
  folder: string,
  tensors: readonly TensorSource[],
  others: ReadonlyMap<string, string | Uint8Array>,
  options: SaveModelOptions = {},
): Promise<void> {
  checkOptions("save a model", options, saveModelRules);
  const { dtype = "float32", maxShardBytes = 5e9 } = options;
  const width = dtype === "float32" ? 4 : 2;
  const shards: TensorSource[][] = [[]];
  let capacity = maxShardBytes;
  let total = 0;
  for (const { name, shape, values } of tensors) {
    const bytes = shapeSize(shape) * width;
    if (bytes > capacity && shards.at(-1)!.length > 0) {
      shards.push([]);
      capacity = maxShardBytes;
    }
    shards.at(-1)!.push({
      name,
      shape,
      values: async () => {
        tellTerminal(() => `writing ${folder}: ${name}`);
        return checkWritable(await values(), name, dtype);
      },
    });
    capacity -= bytes;
    total += bytes;
  }
  const number = (n: number) => String(n).padStart(5, "0");
  const fileName = (shard: number) =>
    shards.length === 1
      ? "model.safetensors"
      : `model-${number(shard + 1)}-of-${number(shards.length)}.safetensors`;

  const texts = new Map(others);
  if (shards.length > 1) {
    const entries = shards.flatMap((shard, i) => shard.map(({ name }) => [name, fileName(i)]));
    const index = { metadata: { total_size: total }, weight_map: Object.fromEntries(entries) };
    texts.set("model.safetensors.index.json", `${JSON.stringify(index, undefined, 2)}\n`);
  }

  await outputFolder(folder, "write a model");
  const staged: StagedFile[] = [];
  try {
    for (const [i, shard] of shards.entries()) {
      staged.push(await stageSafetensors(join(folder, fileName(i)), shard, { dtype }));
    }
    for (const [name, text] of texts) {
      staged.push(await stageFile(join(folder, name), (file) => file.writeFile(text)));
    }
  } catch (error) {
    for (const file of staged) await file.discard();
    throw error;
  }
  for (const file of staged) await file.commit();
  // Weights of an earlier save under other names would be read in place of these.
  const written = new Set(staged.map(({ path }) => path));
  for (const name of await readdir(folder)) {
    const weights = /^model(-\d+-of-\d+)?\.safetensors(\.index\.json)?$/.test(name);
    if (weights && !written.has(join(folder, name))) await rm(join(folder, name));
  }
}

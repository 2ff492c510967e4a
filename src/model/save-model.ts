import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { formatGenerationConfig } from "./generation-config.js";
import type { WeightType } from "./half.js";
import { formatHfConfig } from "./hf-config.js";
import { stageFile, type StagedFile } from "./staged-file.js";
import type { Model } from "./transformer.js";
import { stageSafetensors, type TensorSource } from "./write-safetensors.js";

/** How a checkpoint is written. */
export interface SaveModelOptions {
  /** Default float32, which loses nothing. */
  dtype?: WeightType;
  /** The weights are split into files of at most this size (one tensor is never split). */
  maxShardBytes?: number;
}

const largest = { float32: Infinity, float16: 65519.99, bfloat16: 3.3961775e38 };

/** A weight's values, checked: what is broken in memory must not replace what is whole on disk. */
async function values(model: Model, name: string, dtype: WeightType): Promise<Float32Array> {
  const data = (await model.weights.get(name)!.data()) as Float32Array;
  const limit = largest[dtype];
  for (let i = 0; i < data.length; i++) {
    if (!(Math.abs(data[i]!) < limit)) {
      throw new RangeError(
        `Cannot save a model: weights must be finite in ${dtype}, got ${data[i]} in ${name} at ${i}`,
      );
    }
  }
  return data;
}

/**
 * Writes a model as a Hugging Face folder that transformers and vLLM load: `config.json`,
 * `generation_config.json` and safetensors, sharded with an index when large. Old files are replaced
 * only once all new ones are on disk; other files in the folder stay.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp, readdir } from "node:fs/promises";
 * import { Model, saveModel } from "arpo-lab/model";
 *
 * const folder = await mkdtemp("/tmp/arpo-");
 * const sizes = { vocabSize: 50, hiddenSize: 16, intermediateSize: 32, layers: 1, heads: 2 };
 * await saveModel(Model.init(sizes, 1), folder, { maxShardBytes: 8000 });
 * assert.ok((await readdir(folder)).includes("model.safetensors.index.json"));
 * ```
 */
export async function saveModel(
  model: Model,
  folder: string,
  options: SaveModelOptions = {},
): Promise<void> {
  const { dtype = "float32", maxShardBytes = 5e9 } = options;
  if (!(maxShardBytes > 0)) {
    throw new RangeError(
      `Cannot save a model: maxShardBytes must be positive, got ${maxShardBytes}`,
    );
  }
  const width = dtype === "float32" ? 4 : 2;
  const shards: TensorSource[][] = [[]];
  let room = maxShardBytes;
  let total = 0;
  for (const [name, weight] of model.weights) {
    const bytes = weight.size * width;
    if (bytes > room && shards.at(-1)!.length > 0) {
      shards.push([]);
      room = maxShardBytes;
    }
    shards.at(-1)!.push({
      name,
      shape: weight.shape,
      values: () => values(model, name, dtype),
    });
    room -= bytes;
    total += bytes;
  }
  const number = (n: number) => String(n).padStart(5, "0");
  const fileName = (shard: number) =>
    shards.length === 1
      ? "model.safetensors"
      : `model-${number(shard + 1)}-of-${number(shards.length)}.safetensors`;

  const texts: [string, unknown][] = [
    ["config.json", formatHfConfig(model.config, dtype)],
    ["generation_config.json", formatGenerationConfig(model.generation)],
  ];
  if (shards.length > 1) {
    const entries = shards.flatMap((shard, i) => shard.map(({ name }) => [name, fileName(i)]));
    const index = { metadata: { total_size: total }, weight_map: Object.fromEntries(entries) };
    texts.push(["model.safetensors.index.json", index]);
  }

  await mkdir(folder, { recursive: true });
  const staged: StagedFile[] = [];
  try {
    for (const [i, shard] of shards.entries()) {
      staged.push(await stageSafetensors(join(folder, fileName(i)), shard, { dtype }));
    }
    for (const [name, json] of texts) {
      const text = `${JSON.stringify(json, undefined, 2)}\n`;
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

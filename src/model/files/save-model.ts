import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import type { ModelConfig } from "../config.js";
import { formatGenerationConfig, type GenerationConfig } from "../generation-config.js";
import { initialValues } from "../transformer/init-weights.js";
import type { Model } from "../transformer/transformer.js";
import { shapeSize, weightShapes } from "../transformer/weights.js";
import { formatHfConfig } from "./hf-config.js";
import { type SaveModelOptions, saveModelRules, writeWeights } from "./write-weights.js";

/** The values a weight acts with: its own, or a copy with its adapters added. */
export async function actingValues(model: Model, name: string): Promise<Float32Array> {
  const acting = model.acting(name)!;
  const values = (await acting.data()) as Float32Array;
  if (acting === model.weights.get(name)) return values;
  const copied = values.slice();
  acting.dispose();
  return copied;
}

export type { SaveModelOptions };

/**
 * Writes a model's folder from values that are asked for one tensor at a time. Old files are replaced
 * only once all new ones are on disk.
 */
export async function writeModelFolder(
  folder: string,
  config: ModelConfig,
  generation: GenerationConfig,
  read: (name: string) => Promise<Float32Array>,
  options: SaveModelOptions,
): Promise<void> {
  checkOptions("save a model", options, saveModelRules);
  const text = (json: unknown) => `${JSON.stringify(json, undefined, 2)}\n`;
  const tensors = [...weightShapes(config)].map(([name, shape]) => ({
    name,
    shape,
    values: () => read(name),
  }));
  const texts = new Map([
    ["config.json", text(formatHfConfig(config, options.dtype ?? "float32"))],
    ["generation_config.json", text(formatGenerationConfig(generation))],
  ]);
  await writeWeights(folder, tensors, texts, options);
}

/**
 * Writes a model as a Hugging Face folder that transformers and vLLM load: `config.json`,
 * `generation_config.json` and safetensors, sharded with an index when large. Old files are replaced
 * only once all new ones are on disk; other files in the folder stay. Adapters are written as part of the
 * weights they add to; `saveAdapter` writes them alone.
 *
 * @param model the model to write
 * @param folder the folder; it is created if needed
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp, readdir } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { Model, saveModel } from "arpo-lab/model";
 *
 * const folder = await mkdtemp(join(tmpdir(), "arpo-"));
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
  checkArguments("save a model", { model, folder }, { model: "model", folder: "path" });
  const read = (name: string) => actingValues(model, name);
  await writeModelFolder(folder, model.config, model.generation, read, options);
}

/**
 * Writes a folder as {@link saveModel} does, of a freshly drawn model that is never in memory as a
 * whole: for trying sizes, with the very weights that `Model.init` gives.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { modelConfig, saveRandomModel } from "arpo-lab/experimental/formats";
 * import { loadModel } from "arpo-lab/model";
 *
 * const folder = await mkdtemp(join(tmpdir(), "arpo-"));
 * const config = modelConfig({
 *   vocabSize: 50, hiddenSize: 16, intermediateSize: 32, layers: 1, heads: 2,
 * });
 * await saveRandomModel(config, 7, folder);
 * assert.equal((await loadModel(folder)).config.layers, 1);
 * ```
 */
export async function saveRandomModel(
  config: ModelConfig,
  seed: number,
  folder: string,
  options: SaveModelOptions = {},
): Promise<void> {
  checkArguments(
    "save a model",
    { config, seed, folder },
    { config: { vocabSize: "number", layers: "number" }, seed: "number", folder: "path" },
  );
  const shapes = weightShapes(config);
  const draw = async (name: string) =>
    initialValues(name, shapeSize(shapes.get(name)!), seed, config);
  await writeModelFolder(folder, config, { eosIds: config.eosIds }, draw, options);
}

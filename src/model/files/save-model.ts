import { checkArguments } from "../../arguments/check-arguments.js";
import type { Model } from "../transformer/transformer.js";
import { actingValues } from "./acting-values.js";
import { writeModelFolder, type SaveModelOptions } from "./write-model-folder.js";

/**
 * Writes a model as a Hugging Face folder that transformers and vLLM load: `config.json`,
 * `generation_config.json` and safetensors, sharded with an index when large. Old files are replaced
 * only once all new ones are on disk; other files in the folder stay. Adapters are written as part of the
 * weights they add to; `saveAdapter` writes them alone.
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
  checkArguments("save a model", { model, folder }, { model: "model", folder: "path" });
  const read = (name: string) => actingValues(model, name);
  await writeModelFolder(folder, model.config, model.generation, read, options);
}

import { checkArguments } from "../../arguments/check-arguments.js";
import type { ModelConfig } from "../config.js";
import { initialValues } from "../transformer/init-weights.js";
import { shapeSize } from "../transformer/weights.js";
import { weightShapes } from "../transformer/weights.js";
import { writeModelFolder, type SaveModelOptions } from "./write-model-folder.js";

/**
 * Writes a folder as {@link saveModel} does, of a freshly drawn model that is never in memory as a
 * whole: for trying sizes, with the very weights that `Model.init` gives.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp } from "node:fs/promises";
 * import { modelConfig, saveRandomModel } from "arpo-lab/experimental/formats";
 * import { loadModel } from "arpo-lab/model";
 *
 * const folder = await mkdtemp("/tmp/arpo-");
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
    initialValues(name, shapeSize(shapes.get(name)!), seed, config.initializerRange);
  await writeModelFolder(folder, config, { eosIds: config.eosIds }, draw, options);
}

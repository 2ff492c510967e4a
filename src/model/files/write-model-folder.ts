import { checkOptions } from "../../arguments/check-options.js";
import type { ModelConfig } from "../config.js";
import { formatGenerationConfig, type GenerationConfig } from "../generation-config.js";
import { formatHfConfig } from "./hf-config.js";
import { weightShapes } from "../transformer/weights.js";
import { saveModelRules, writeWeights, type SaveModelOptions } from "./write-weights.js";

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

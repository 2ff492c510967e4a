import { join } from "#platform/path";
import type { ModelConfig } from "../config.js";
import { parseGenerationConfig, type GenerationConfig } from "../generation-config.js";
import { GgufFile } from "./gguf/gguf-file.js";
import { GgufWeights } from "./gguf/gguf-weights.js";
import { isGguf } from "./gguf/is-gguf.js";
import { readGgufConfig } from "./gguf/read-config.js";
import { parseHfConfig } from "./hf-config.js";
import { exists, openWeights } from "./open-weights.js";
import { readJson } from "./read-json.js";
import type { WeightFile } from "./weight-file.js";

/** A model on disk, before its weights are read. */
export interface StoredModel {
  config: ModelConfig;
  generation?: GenerationConfig;
  /** The file that holds each weight. */
  where: ReadonlyMap<string, WeightFile>;
}

const doing = "load a model";

/** What is said about a model on disk, a Hugging Face folder or a `.gguf` file, beside its weights. */
export async function readModelFacts(path: string): Promise<Omit<StoredModel, "where">> {
  if (isGguf(path)) {
    const file = await GgufFile.open(path);
    try {
      return await readGgufConfig(file);
    } finally {
      await file.close();
    }
  }
  const config = parseHfConfig(await readJson(join(path, "config.json"), doing));
  const generation = join(path, "generation_config.json");
  if (!(await exists(generation))) return { config };
  return { config, generation: parseGenerationConfig(await readJson(generation, doing)) };
}

/** Opens a model on disk. The files are added to `opened` and are the caller's to close. */
export async function openModel(path: string, opened: WeightFile[]): Promise<StoredModel> {
  if (isGguf(path)) {
    const file = await GgufFile.open(path);
    try {
      const { config, generation } = await readGgufConfig(file);
      const weights = new GgufWeights(file, config);
      opened.push(weights);
      const where = new Map([...weights.tensors.keys()].map((name) => [name, weights]));
      return { config, generation, where };
    } catch (error) {
      await file.close();
      throw error;
    }
  }
  const facts = await readModelFacts(path);
  return { ...facts, where: await openWeights(path, opened) };
}

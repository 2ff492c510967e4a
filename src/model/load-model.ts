import { access } from "node:fs/promises";
import { basename, join } from "node:path";
import { ready } from "../tensor/index.js";
import { modelConfig, type ModelConfig } from "./config.js";
import { parseGenerationConfig, type GenerationConfig } from "./generation-config.js";
import { parseHfConfig } from "./hf-config.js";
import { initialValues } from "./init-weights.js";
import { readJson } from "./read-json.js";
import { SafetensorsFile } from "./safetensors-file.js";
import { shapeSize } from "./safetensors-header.js";
import { Model } from "./transformer.js";
import { weightShapes } from "./weights.js";

/** How a checkpoint is read. */
export interface LoadModelOptions {
  /** "value" makes a critic of a language model. Default: what the folder holds. */
  head?: ModelConfig["head"];
  /** Draws a new critic's head. */
  seed?: number;
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

/** Opens every weight file of a folder and says which file holds which tensor. */
async function openWeights(folder: string, opened: SafetensorsFile[]) {
  const where = new Map<string, SafetensorsFile>();
  const refuse = (rule: string, got: string): never => {
    throw new RangeError(`Cannot load a model: ${rule}, got ${got}`);
  };
  const open = async (name: string) => {
    const path = join(folder, name);
    if (!(await exists(path))) refuse(`${folder} must hold ${name}`, "no such file");
    const file = await SafetensorsFile.open(path);
    opened.push(file);
    return file;
  };
  const index = join(folder, "model.safetensors.index.json");
  if (await exists(join(folder, "model.safetensors"))) {
    const file = await open("model.safetensors");
    for (const name of file.tensors.keys()) where.set(name, file);
  } else if (await exists(index)) {
    const { weight_map: map } = await readJson(index, "load a model");
    if (map === null || typeof map !== "object")
      refuse(`${index} must have a weight_map`, typeof map);
    const files = new Map<string, SafetensorsFile>();
    for (const [tensor, name] of Object.entries(map as Record<string, string>)) {
      if (name !== basename(name)) refuse(`a shard must lie in the model's folder`, name);
      const file = files.get(name) ?? (await open(name));
      files.set(name, file);
      if (!file.tensors.has(tensor))
        refuse(`${name} must hold ${tensor} as the index says`, "none");
      where.set(tensor, file);
    }
  } else {
    refuse(`${folder} must hold model.safetensors or model.safetensors.index.json`, "neither");
  }
  return where;
}

/** Checks that the files hold exactly what the config asks for; gives the weights to draw afresh. */
function checkWeights(
  config: ModelConfig,
  where: ReadonlyMap<string, SafetensorsFile>,
  stored: ModelConfig["head"],
): Set<string> {
  const shapes = weightShapes(config);
  const fresh = new Set<string>();
  for (const [name, shape] of shapes) {
    const found = where.get(name)?.tensors.get(name)?.shape;
    if (!found && config.head !== stored && name.startsWith("score.")) fresh.add(name);
    else if (`${found}` !== `${shape}`) {
      throw new RangeError(
        `Cannot load a model: ${name} must have shape [${shape}] as config.json says, got ${found ? `[${found}]` : "no such tensor"}`,
      );
    }
  }
  for (const name of where.keys()) {
    // The output matrix of a tied model or of what is now a critic, and tables old files carry along.
    if (shapes.has(name) || /^(score|lm_head)\.|\.rotary_emb\.inv_freq$/.test(name)) continue;
    throw new RangeError(
      `Cannot load a model: ${config.family} with this config.json must have no other weights, got ${name}`,
    );
  }
  return fresh;
}

function checkFinite(name: string, values: Float32Array): void {
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) {
      throw new RangeError(
        `Cannot load a model: weights must be finite, got ${values[i]} in ${name} at ${i}`,
      );
    }
  }
}

/**
 * Loads a model from a Hugging Face folder: `config.json`, `generation_config.json` where there is
 * one, and safetensors, whole or sharded. Everything is checked before the first weight is read; the
 * weights come in one tensor at a time.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp } from "node:fs/promises";
 * import { loadModel, Model, saveModel } from "arpo-lab/model";
 *
 * const folder = await mkdtemp("/tmp/arpo-");
 * const sizes = { vocabSize: 50, hiddenSize: 16, intermediateSize: 32, layers: 1, heads: 2 };
 * await saveModel(Model.init(sizes, 1), folder, { dtype: "bfloat16" });
 * const model = await loadModel(folder);
 * assert.equal(model.config.hiddenSize, 16);
 * ```
 */
export async function loadModel(folder: string, options: LoadModelOptions = {}): Promise<Model> {
  const stored = parseHfConfig(await readJson(join(folder, "config.json"), "load a model"));
  const config = modelConfig({ ...stored, head: options.head ?? stored.head });
  let generation: GenerationConfig | undefined;
  const generationPath = join(folder, "generation_config.json");
  if (await exists(generationPath)) {
    generation = parseGenerationConfig(await readJson(generationPath, "load a model"));
  }
  await ready(); // a GPU can only be asked for asynchronously
  const files: SafetensorsFile[] = [];
  try {
    const where = await openWeights(folder, files);
    const fresh = checkWeights(config, where, stored.head);
    return await Model.build(
      config,
      async (name, shape) => {
        if (fresh.has(name)) {
          return initialValues(name, shapeSize(shape), options.seed ?? 0, config.initializerRange);
        }
        const values = await where.get(name)!.read(name);
        checkFinite(name, values);
        return values;
      },
      generation,
    );
  } finally {
    for (const file of files) await file.close();
  }
}

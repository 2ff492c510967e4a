import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  integer,
  oneOf,
  type OptionRules,
} from "../../../common/options/check-options.js";
import { tellTerminal } from "../../base/show/tell-terminal.js";
import { chooseBackend } from "../choose/choose-backend.js";
import { modelConfig, type ModelConfig } from "../config.js";
import { initialValues } from "../transformer/init-weights.js";
import { openModel } from "../files/open-model.js";
import { checkFinite, checkStored } from "../files/open-weights.js";
import { checkSealed } from "../files/sealed.js";
import type { WeightFile } from "../files/weight-file.js";
import { shapeSize } from "../transformer/weights.js";
import { Model } from "../transformer/transformer.js";

/** How a checkpoint is read. */
export interface LoadModelOptions {
  /** "value" makes a critic of a language model. Default: what the folder holds. */
  head?: ModelConfig["head"];
  /** Draws a new critic's head. Default: 0. */
  seed?: number;
}

const rules: OptionRules<LoadModelOptions> = {
  head: oneOf(["logits", "value"]),
  seed: integer(0),
};

/**
 * Loads a model from a Hugging Face folder (`config.json`, `generation_config.json` where there is
 * one, and safetensors, whole or sharded) or a `.gguf` file, whose values are unpacked. Everything is checked before the first weight is read; the
 * weights come in one tensor at a time.
 *
 * @param folder a Hugging Face folder or a `.gguf` file
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { loadModel, Model, saveModel } from "arpo-lab/model";
 *
 * const folder = await mkdtemp(join(tmpdir(), "arpo-"));
 * const sizes = { vocabSize: 50, hiddenSize: 16, intermediateSize: 32, layers: 1, heads: 2 };
 * await saveModel(Model.init(sizes, 1), folder, { dtype: "bfloat16" });
 * const model = await loadModel(folder);
 * assert.equal(model.config.hiddenSize, 16);
 * ```
 */
export async function loadModel(folder: string, options: LoadModelOptions = {}): Promise<Model> {
  checkArguments("load a model", { folder }, { folder: "path" });
  checkOptions("load a model", options, rules);
  await checkSealed(folder, "load a model");
  const files: WeightFile[] = [];
  try {
    const { config: stored, generation, where } = await openModel(folder, files);
    const config = modelConfig({ ...stored, head: options.head ?? stored.head });
    const fresh = checkStored(config, where, stored.head);
    await chooseBackend(config);
    let read = 0;
    return await Model.build(
      config,
      async (name, shape) => {
        tellTerminal(() => `loading ${folder}: ${read} of ${where.size} weights`);
        read++;
        if (fresh.has(name)) {
          return initialValues(name, shapeSize(shape), options.seed ?? 0, config);
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

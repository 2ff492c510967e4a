import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { join } from "#platform/path";
import { writeDurably } from "../../../common/files/durable.js";
import type { Model } from "../transformer/transformer.js";
import { stageSafetensors, type TensorSource } from "../files/write-safetensors.js";
import { outputFolder } from "../files/model-folder.js";

/**
 * Writes a model's adapters as PEFT does: `adapter_config.json` and `adapter_model.safetensors`.
 *
 * @param model a model with adapters
 * @param folder the folder; it is created if needed
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp, readdir } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { addLora, Model, saveAdapter } from "arpo-lab/model";
 *
 * const folder = await mkdtemp(join(tmpdir(), "arpo-"));
 * const sizes = { vocabSize: 9, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
 * const model = Model.init(sizes, 1);
 * addLora(model, { rank: 2, alpha: 4 });
 * await saveAdapter(model, folder);
 * assert.deepEqual((await readdir(folder)).sort(), ["adapter_config.json", "adapter_model.safetensors"]);
 * ```
 */
export async function saveAdapter(
  model: Model,
  folder: string,
  options: {
    /** The folder or name of the model the adapters belong to. Default: none is written. */
    base?: string;
  } = {},
): Promise<void> {
  checkArguments("save an adapter", { model, folder }, { model: "model", folder: "path" });
  checkOptions("save an adapter", options, { base: "text?" });
  const { lora } = model;
  if (!lora) throw new TypeError("Cannot save an adapter: the model must have one, got none");
  const tensors: TensorSource[] = [];
  for (const [name, weight] of lora.weights) {
    const values = (await weight.data()) as Float32Array;
    const bad = values.find((value) => !Number.isFinite(value));
    if (bad !== undefined) {
      throw new RangeError(`Cannot save an adapter: ${name} must be finite, got ${bad}`);
    }
    tensors.push({ name: `base_model.model.${name}`, shape: weight.shape, values: () => values });
  }
  const config = {
    peft_type: "LORA",
    task_type: "CAUSAL_LM",
    base_model_name_or_path: options.base ?? null,
    r: lora.rank,
    lora_alpha: lora.alpha,
    target_modules: lora.targetModules,
    use_rslora: lora.rslora,
    lora_dropout: 0,
    bias: "none",
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    modules_to_save: null,
  };
  await outputFolder(folder, "save an adapter");
  const weights = await stageSafetensors(join(folder, "adapter_model.safetensors"), tensors);
  const text = `${JSON.stringify(config, undefined, 2)}\n`;
  try {
    await writeDurably(join(folder, "adapter_config.json"), text);
  } catch (error) {
    await weights.discard();
    throw error;
  }
  await weights.commit();
}

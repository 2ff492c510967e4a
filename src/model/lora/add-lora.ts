import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  either,
  integer,
  type OptionRules,
  positive,
  required,
  texts,
} from "../../../common/options/check-options.js";
import { Random } from "../../base/random/random.js";
import { tf } from "../../tensor/tf.js";
import { adapterShapes, checkLora, chosenModules } from "./lora-modules.js";
import { Lora, type LoraOptions } from "../transformer/lora.js";
import type { Model } from "../transformer/transformer.js";

const rules: OptionRules<LoraOptions> = {
  rank: required(integer(1)),
  alpha: required(positive),
  targetModules: either("text", texts),
  rslora: "boolean?",
  seed: integer(0),
};

/**
 * Adds low-rank adapters to a model. From then on they alone are trained, and the model's own weights
 * stay as they are. A is uniform as PyTorch's Linear is (Kaiming, a = sqrt 5), B is zero, so that the
 * model computes what it did before.
 *
 * @param model the model that gets the adapters
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { addLora, Model } from "arpo-lab/model";
 *
 * const sizes = { vocabSize: 9, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
 * const model = Model.init(sizes, 1);
 * addLora(model, { rank: 2, alpha: 4 });
 * assert.equal(model.trainable.size, 14);
 * assert.throws(() => addLora(Model.init(sizes, 1), { rank: 0, alpha: 4 }), /rank/);
 * ```
 */
export function addLora(model: Model, options: LoraOptions): Lora {
  checkArguments("add adapters", { model }, { model: "model" });
  checkOptions("add adapters", options, rules);
  const { rank, alpha, targetModules = "all-linear", rslora = false, seed = 0 } = options;
  checkLora(model.config, rank, alpha);
  const modules = chosenModules(targetModules, model.config);
  const stream = Random.from(seed).split("lora");
  const made = new Map<string, tf.Variable>();
  for (const [name, shape] of adapterShapes(model.config, rank, modules)) {
    const values = new Float32Array(shape[0] * shape[1]);
    if (name.endsWith("lora_A.weight")) {
      const bound = 1 / Math.sqrt(shape[1]);
      const draws = stream.split(name);
      for (let i = 0; i < values.length; i++) values[i] = bound * (2 * draws.uniform() - 1);
    }
    made.set(
      name,
      tf.tidy(() => tf.variable(tf.tensor(values, shape, "float32"))),
    );
  }
  const lora = new Lora(rank, alpha, rslora, modules, made);
  try {
    model.adopt(lora);
  } catch (error) {
    lora.dispose();
    throw error;
  }
  return lora;
}

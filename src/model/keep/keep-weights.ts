import { checkArguments } from "../../arguments/check-arguments.js";
import { tf } from "../../tensor/index.js";
import { packHalf, unpackHalf } from "../files/half.js";
import type { Model } from "../transformer/transformer.js";
import { keptTypes, type KeptType } from "../transformer/weights.js";
import { drawBfloat16 } from "./draw-bfloat16.js";

/**
 * Says what a model's weights are between two steps of training. As `"bfloat16"` they are rounded now, to
 * the nearest, and by training after every `step`, by lot, so that small steps add up; gradients and the
 * optimiser's averages stay in single precision. A decoder and a checkpoint in bfloat16 then lose nothing.
 * Adapters stay in single precision.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { keepWeights, makeDecoder, Model } from "arpo-lab/model";
 *
 * const sizes = { vocabSize: 50, hiddenSize: 16, intermediateSize: 32, layers: 2, heads: 4 };
 * const model = Model.init(sizes, 7);
 * await keepWeights(model, "bfloat16");
 * // A sampler in bfloat16 has the model's own weights.
 * assert.equal(makeDecoder(model, { dtype: "bfloat16" }).rounded, undefined);
 * ```
 */
export async function keepWeights(model: Model, type: KeptType, step?: number): Promise<void> {
  checkArguments(
    "keep weights",
    { model, type, step },
    { model: "model", type: "text", step: "number?" },
  );
  if (!keptTypes.includes(type)) {
    throw new RangeError(
      `Cannot keep weights: type must be ${keptTypes.join(" or ")}, got ${String(type)}`,
    );
  }
  model.weightType = type;
  if (type === "float32") return;
  for (const [place, weight] of [...model.weights.values()].entries()) {
    // What a backend hands out may be its own memory, which others see too.
    const values = Float32Array.from((await weight.data()) as Float32Array);
    if (step === undefined) unpackHalf(packHalf(values, type), type, values);
    else drawBfloat16(values, step, place);
    tf.tidy(() => weight.assign(tf.tensor(values, weight.shape, "float32")));
  }
  model.changed();
}

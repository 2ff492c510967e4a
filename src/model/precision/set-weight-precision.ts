import { checkArguments } from "../../arguments/check-arguments.js";
import { tf } from "../../tensor/tf.js";
import { packHalf, unpackHalf } from "../files/half.js";
import type { Model } from "../transformer/transformer.js";
import { weightPrecisions, type WeightPrecision } from "../transformer/weights.js";
import { stochasticRoundBfloat16 } from "./stochastic-rounding.js";

/**
 * Sets the precision in which a model keeps its weights between training steps. With `"bfloat16"` they are rounded
 * to nearest now, and stochastically after each training `step`, so that small updates add up. Gradients and
 * optimizer state stay in float32, and so do adapters. A decoder or a checkpoint in bfloat16 is then exact.
 */
export async function setWeightPrecision(
  model: Model,
  type: WeightPrecision,
  step?: number,
): Promise<void> {
  checkArguments(
    "set the weight precision",
    { model, type, step },
    { model: "model", type: "text", step: "number?" },
  );
  if (!weightPrecisions.includes(type)) {
    throw new RangeError(
      `Cannot set the weight precision: type must be ${weightPrecisions.join(" or ")}, got ${String(type)}`,
    );
  }
  model.weightPrecision = type;
  if (type === "float32") return;
  for (const [place, weight] of [...model.weights.values()].entries()) {
    // What a backend hands out may be its own memory, which others see too.
    const values = Float32Array.from((await weight.data()) as Float32Array);
    if (step === undefined) unpackHalf(packHalf(values, type), type, values);
    else stochasticRoundBfloat16(values, step, place);
    tf.tidy(() => weight.assign(tf.tensor(values, weight.shape, "float32")));
  }
  model.changed();
}

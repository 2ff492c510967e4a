import { checkArguments } from "../../../common/options/check-arguments.js";
import { tf } from "../../tensor/tf.js";
import { packHalf, unpackHalf } from "../files/half.js";
import type { Model } from "../transformer/transformer.js";
import { type WeightPrecision, weightPrecisions } from "../transformer/weights.js";

/** A number of 32 bits in which every bit depends on every bit of the one given. */
function mixed(bits: number): number {
  let h = bits | 0;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return h ^ (h >>> 16);
}

/**
 * Stochastic rounding in place: each value becomes one of its two nearest bfloat16 values, the nearer one more often, so that the
 * mean over many draws is the value itself. The same values, step and place give the same bits.
 */
export function stochasticRoundBfloat16(values: Float32Array, step: number, place: number): void {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const key = mixed(Math.imul(step, 0x9e3779b1) ^ mixed(place + 1));
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    // NaN and infinity stay as they are.
    if ((word & 0x7f800000) === 0x7f800000) continue;
    words[i] = (word + (mixed(i ^ key) & 0xffff)) & 0xffff0000;
  }
}

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

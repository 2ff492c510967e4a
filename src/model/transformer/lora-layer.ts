import type { Qkv, QkvShape } from "../../tensor/plain/qkv.js";
import { rmsNorm } from "../../tensor/ops/rms-norm.js";
import { rope } from "../../tensor/ops/rope.js";
import type { tf } from "../../tensor/tf.js";
import { type Adapted, adaptedLinear, frozenLinear } from "../../tensor/ops/adapted-linear.js";
import type { LayerWeights } from "./layer-parts.js";
import type { RotaryTable } from "./rope.js";

/**
 * x W^T + b of some projections of the same x, and scale * x A^T B^T where one has an adapter. Where all
 * have, they are one operation.
 */
export function adapted(
  x: tf.Tensor,
  weights: LayerWeights,
  names: readonly string[],
  scale: number,
): tf.Tensor[] {
  const projections = names.map((name) => ({
    weight: weights[`${name}.weight`]!,
    bias: weights[`${name}.bias`],
    a: weights[`${name}.lora_A.weight`],
    b: weights[`${name}.lora_B.weight`],
  }));
  const whole = (given: (typeof projections)[number]): given is typeof given & Adapted =>
    given.a !== undefined && given.b !== undefined;
  const adaptedOnes = projections.filter(whole);
  if (adaptedOnes.length === projections.length) return adaptedLinear(x, adaptedOnes, scale);
  return projections.map((given) =>
    whole(given) ? adaptedLinear(x, [given], scale)[0]! : frozenLinear(x, given.weight, given.bias),
  );
}

/** As the tensor module's `qkv`, with adapters on the projections. */
export function adaptedQkv(
  x: tf.Tensor,
  weights: LayerWeights,
  { cos, sin }: RotaryTable,
  { heads, kvHeads, headDim, epsilon }: QkvShape,
  scale: number,
): Qkv {
  const [batch, time] = x.shape as [number, number];
  const letters = ["q", "k", "v"] as const;
  const names = letters.map((letter) => `self_attn.${letter}_proj`);
  const [q, k, v] = adapted(x, weights, names, scale).map((all, i) => {
    const split: tf.Tensor = all.reshape([batch, time, i === 0 ? heads : kvHeads, headDim]);
    const norm = weights[`self_attn.${letters[i]}_norm.weight`];
    return norm ? rmsNorm(split, norm, epsilon) : split;
  }) as [tf.Tensor, tf.Tensor, tf.Tensor];
  return { q: rope(q, cos, sin), k: rope(k, cos, sin), v };
}

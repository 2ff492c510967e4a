import { linear, type Qkv, type QkvShape, rmsNorm, rope, tf } from "../../tensor/index.js";
import type { LayerWeights } from "./layer-parts.js";
import type { RotaryTable } from "./rope.js";

/** A linear layer whose weight is not trained: no time goes into a gradient nobody wants. */
function frozen(x: tf.Tensor, weight: tf.Tensor, bias?: tf.Tensor): tf.Tensor {
  return tf.customGrad((given) => ({
    value: linear(given as tf.Tensor, weight, bias),
    gradFunc: (dy: tf.Tensor) => {
      const [outputs, inputs] = weight.shape as [number, number];
      const rows: tf.Tensor2D = dy.reshape([-1, outputs]);
      return tf.matMul(rows, weight as tf.Tensor2D).reshape([...x.shape.slice(0, -1), inputs]);
    },
  }))(x);
}

/** x W^T + b, and scale * x A^T B^T where the projection has an adapter. */
export function adapted(
  x: tf.Tensor,
  weights: LayerWeights,
  name: string,
  scale: number,
): tf.Tensor {
  const base = frozen(x, weights[`${name}.weight`]!, weights[`${name}.bias`]);
  const a = weights[`${name}.lora_A.weight`];
  const b = weights[`${name}.lora_B.weight`];
  return a && b ? base.add(linear(linear(x, a), b).mul(scale)) : base;
}

/** As the tensor room's `qkv`, with adapters on the projections. */
export function adaptedQkv(
  x: tf.Tensor,
  weights: LayerWeights,
  { cos, sin }: RotaryTable,
  { heads, kvHeads, headDim, epsilon }: QkvShape,
  scale: number,
): Qkv {
  const [batch, time] = x.shape as [number, number];
  const project = (letter: string, count: number): tf.Tensor => {
    const all = adapted(x, weights, `self_attn.${letter}_proj`, scale);
    const split: tf.Tensor = all.reshape([batch, time, count, headDim]);
    const norm = weights[`self_attn.${letter}_norm.weight`];
    return norm ? rmsNorm(split, norm, epsilon) : split;
  };
  return {
    q: rope(project("q", heads), cos, sin),
    k: rope(project("k", kvHeads), cos, sin),
    v: project("v", kvHeads),
  };
}

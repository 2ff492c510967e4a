import { fused } from "../fused.js";
import { rope as plain } from "../plain/rope.js";
import type { tf } from "../tfjs.js";

/**
 * Rotary positions alone: x [batch, time, heads, headDim] with each pair (x_i, x_{i + headDim / 2})
 * turned by the angle of its time, cos and sin being [positions, headDim / 2]. `qkv` has it built in.
 * Differentiable in x.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rope, tf } from "arpo-lab/tensor";
 *
 * const y = rope(tf.tensor4d([1, 0], [1, 1, 1, 2]), tf.tensor2d([[0.6]]), tf.tensor2d([[0.8]]));
 * assert.ok(Math.abs(y.dataSync()[1] - 0.8) < 1e-6);
 * ```
 */
export function rope(x: tf.Tensor, cos: tf.Tensor, sin: tf.Tensor): tf.Tensor {
  return fused("ArpoRope", { x, cos, sin }, {}, 1, () => [plain(x, cos, sin)])[0]!;
}

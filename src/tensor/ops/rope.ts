import { fused } from "../fused.js";
import { rope as plain } from "../plain.js";
import type { tf } from "../tfjs.js";

/**
 * Rotary positions alone: x [batch, time, heads, headDim] with each pair (x_i, x_{i + headDim / 2})
 * turned by the angle of its time, cos and sin being [positions, headDim / 2]. `qkv` has it built in.
 * Differentiable in x.
 */
export function rope(x: tf.Tensor, cos: tf.Tensor, sin: tf.Tensor): tf.Tensor {
  return fused("ArpoRope", { x, cos, sin }, {}, 1, () => [plain(x, cos, sin)])[0]!;
}

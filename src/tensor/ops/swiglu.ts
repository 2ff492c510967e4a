import { fused } from "../fused.js";
import { swiglu as plain } from "../plain/swiglu.js";
import type { tf } from "../tfjs.js";

/**
 * silu(gate) * up, element by element: the inside of a SwiGLU feed-forward block. Differentiable.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { swiglu, tf } from "arpo-lab/tensor";
 *
 * assert.deepEqual([...swiglu(tf.tensor1d([0, 100]), tf.tensor1d([5, 2])).dataSync()], [0, 200]);
 * ```
 */
export function swiglu(gate: tf.Tensor, up: tf.Tensor): tf.Tensor {
  if (`${gate.shape}` !== `${up.shape}`) {
    throw new RangeError(
      `Cannot apply SwiGLU: gate and up must have one shape, got [${gate.shape}] and [${up.shape}]`,
    );
  }
  return fused("ArpoSwiglu", { gate, up }, {}, 1, () => [plain(gate, up)])[0]!;
}

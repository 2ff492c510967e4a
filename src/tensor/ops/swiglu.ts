import { fused } from "../fused.js";
import { swiglu as plain } from "../plain.js";
import type { tf } from "../tfjs.js";

/** silu(gate) * up, element by element: the inside of a SwiGLU feed-forward block. Differentiable. */
export function swiglu(gate: tf.Tensor, up: tf.Tensor): tf.Tensor {
  if (`${gate.shape}` !== `${up.shape}`) {
    throw new RangeError(
      `Cannot apply SwiGLU: gate and up must have one shape, got [${gate.shape}] and [${up.shape}]`,
    );
  }
  return fused("ArpoSwiglu", { gate, up }, {}, 1, () => [plain(gate, up)])[0]!;
}

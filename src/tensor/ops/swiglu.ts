import { fused } from "../fused.js";
import { geglu as plainGelu, swiglu as plain } from "../plain.js";
import type { tf } from "../tfjs.js";

function checkShapes(name: string, gate: tf.Tensor, up: tf.Tensor): void {
  if (`${gate.shape}` === `${up.shape}`) return;
  throw new RangeError(
    `Cannot apply ${name}: gate and up must have one shape, got [${gate.shape}] and [${up.shape}]`,
  );
}

/** silu(gate) * up, element by element: the inside of a SwiGLU feed-forward block. Differentiable. */
export function swiglu(gate: tf.Tensor, up: tf.Tensor): tf.Tensor {
  checkShapes("SwiGLU", gate, up);
  return fused("ArpoSwiglu", { gate, up }, {}, 1, () => [plain(gate, up)])[0]!;
}

/** gelu(gate) * up with GELU in its tanh form, as Gemma has it. Differentiable. */
export function geglu(gate: tf.Tensor, up: tf.Tensor): tf.Tensor {
  checkShapes("GeGLU", gate, up);
  return fused("ArpoGeglu", { gate, up }, {}, 1, () => [plainGelu(gate, up)])[0]!;
}

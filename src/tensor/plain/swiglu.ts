import { tf } from "../tfjs.js";

/** silu(gate) * up, where silu(z) = z sigmoid(z). */
export function swiglu(gate: tf.Tensor, up: tf.Tensor): tf.Tensor {
  return gate.mul(tf.sigmoid(gate)).mul(up);
}

import { tf } from "../tfjs.js";

/** x W^T + b, with W as checkpoints store it: [out, in]. */
export function linear(x: tf.Tensor, weight: tf.Tensor, bias?: tf.Tensor): tf.Tensor {
  const [outputs, inputs] = weight.shape as [number, number];
  const rows = x.reshape([-1, inputs]).matMul(weight, false, true);
  return (bias ? rows.add(bias) : rows).reshape([...x.shape.slice(0, -1), outputs]);
}

import { tf } from "../tfjs.js";

/**
 * Turns each pair (x_i, x_{i + half}) of a head by its position's angle. x is [batch, time, heads,
 * headDim]; cos and sin are [positions, headDim / 2], row t for time t.
 */
export function rope(x: tf.Tensor, cos: tf.Tensor, sin: tf.Tensor): tf.Tensor {
  const [, time, , headDim] = x.shape as [number, number, number, number];
  const half = headDim / 2;
  const c: tf.Tensor = cos.slice([0, 0], [time, half]).reshape([1, time, 1, half]);
  const s: tf.Tensor = sin.slice([0, 0], [time, half]).reshape([1, time, 1, half]);
  const [first, second] = tf.split(x, 2, -1) as [tf.Tensor, tf.Tensor];
  return tf.concat([first.mul(c).sub(second.mul(s)), second.mul(c).add(first.mul(s))], -1);
}

import { tf } from "../tfjs.js";

/** x / sqrt(mean(x^2) + epsilon) * weight, over the last axis. */
export function rmsNorm(x: tf.Tensor, weight: tf.Tensor, epsilon: number): tf.Tensor {
  return x.mul(x.square().mean(-1, true).add(epsilon).rsqrt()).mul(weight);
}

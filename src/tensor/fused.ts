import { tf } from "./tf.js";

type Tensor = tf.Tensor;

/**
 * Runs a fused kernel if the backend in use has one, else the plain tfjs version of the same
 * mathematics. Which of the two ran shows only in the time it took.
 */
export function fusedOr<T>(
  kernel: string,
  inputs: Record<string, Tensor>,
  attributes: Record<string, unknown>,
  plain: () => T,
): T {
  if (!tf.getKernel(kernel, tf.getBackend()))
    return tf.tidy(plain as () => tf.TensorContainer) as T;
  return tf
    .engine()
    .runKernel(kernel, inputs as unknown as tf.NamedTensorMap, attributes as never) as unknown as T;
}

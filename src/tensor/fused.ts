import { matmulPrecision } from "./matmul-precision.js";
import { tf } from "./tfjs.js";

type Tensor = tf.Tensor;

/**
 * Runs a fused kernel if the backend in use has one, else the plain tfjs version of the same
 * mathematics; which of the two ran shows only in the time it took. A kernel may have further outputs
 * after the `results` asked for, kept for its own gradient.
 */
export function fused(
  kernel: string,
  inputs: Record<string, Tensor>,
  attributes: Record<string, unknown>,
  results: number,
  plain: () => Tensor[],
): Tensor[] {
  const backend = tf.backend() && tf.getBackend();
  if (!tf.getKernel(kernel, backend)) return tf.tidy(plain);
  // For the gradient, which is taken later.
  const asked = { ...attributes, precision: matmulPrecision() };
  const outputs = tf.engine().runKernel(kernel, inputs as never, asked as never) as
    Tensor | Tensor[];
  if (!Array.isArray(outputs)) return [outputs];
  for (const extra of outputs.slice(results)) extra.dispose();
  return outputs.slice(0, results);
}

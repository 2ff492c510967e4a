import { fused } from "../fused.js";
import { rmsNorm as plain } from "../plain.js";
import type { tf } from "../tfjs.js";

/** Root-mean-square normalisation over the last axis, times a weight. Differentiable. */
export function rmsNorm(x: tf.Tensor, weight: tf.Tensor, epsilon: number): tf.Tensor {
  return fused("ArpoRmsNorm", { x, weight }, { epsilon }, 1, () => [plain(x, weight, epsilon)])[0]!;
}

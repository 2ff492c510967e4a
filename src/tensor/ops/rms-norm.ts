import { fused } from "../fused.js";
import { rmsNorm as plain } from "../plain/rms-norm.js";
import type { tf } from "../tfjs.js";

/**
 * Root-mean-square normalisation over the last axis, times a weight. Differentiable.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rmsNorm, tf } from "arpo-lab/tensor";
 *
 * const y = rmsNorm(tf.tensor2d([[3, 4]]), tf.tensor1d([1, 2]), 0);
 * assert.ok(Math.abs(y.dataSync()[1] - 8 / Math.sqrt(12.5)) < 1e-5);
 * ```
 */
export function rmsNorm(x: tf.Tensor, weight: tf.Tensor, epsilon: number): tf.Tensor {
  return fused("ArpoRmsNorm", { x, weight }, { epsilon }, 1, () => [plain(x, weight, epsilon)])[0]!;
}

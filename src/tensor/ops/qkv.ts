import { fused } from "../fused.js";
import { qkv as plain, type Qkv, type QkvShape, type QkvWeights } from "../plain.js";
import type { tf } from "../tfjs.js";

/**
 * Queries, keys and values of x [batch, time, width]: projection with bias, head norms where the
 * model has them, rotary positions. Row t of cos and sin (each [positions, headDim / 2]) turns time
 * t. Differentiable in x and every weight.
 */
export function qkv(
  x: tf.Tensor,
  weights: QkvWeights,
  cos: tf.Tensor,
  sin: tf.Tensor,
  shape: QkvShape,
): Qkv {
  if (x.rank !== 3 || cos.shape[0]! < x.shape[1]! || cos.shape[1] !== shape.headDim / 2) {
    throw new RangeError(
      `Cannot project to heads: x must be [batch, time, width] with a row of cos for each time and ` +
        `headDim / 2 columns, got x [${x.shape}], cos [${cos.shape}] and headDim ${shape.headDim}`,
    );
  }
  const given = Object.entries(weights).filter(([, w]) => w !== undefined);
  const inputs = { x, cos, sin, ...(Object.fromEntries(given) as Record<string, tf.Tensor>) };
  const { bq, bk, bv, qNorm, kNorm } = weights;
  const biased = bq !== undefined;
  const normed = qNorm !== undefined;
  if ([bk, bv].some((b) => (b !== undefined) !== biased) || (kNorm !== undefined) !== normed) {
    throw new RangeError(
      "Cannot project to heads: biases and head norms must be given for all or for none, " +
        `got ${given.map(([name]) => name).join(", ")}`,
    );
  }
  const [q, k, v] = fused(
    normed ? "ArpoQkvNormed" : "ArpoQkv",
    inputs,
    { ...shape, biased, normed },
    3,
    () => plain(x, weights, cos, sin, shape),
  ) as [tf.Tensor, tf.Tensor, tf.Tensor];
  return { q, k, v };
}

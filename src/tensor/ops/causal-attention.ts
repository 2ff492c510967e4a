import { fused } from "../fused.js";
import { causalAttention as plain } from "../plain.js";
import type { tf } from "../tfjs.js";

/**
 * Causal attention for training: q [batch, time, heads, headDim] over k and v [batch, time, kvHeads,
 * headDim], each key head serving heads / kvHeads query heads; gives [batch, time, heads * headDim].
 * Rows are padded on the right: `lengths` [batch] (int32) says how much of each counts, and positions
 * past it give 0 and get no gradient. A position sees `window` positions, its own included, or all before it.
 * Differentiable in q, k and v.
 */
export function causalAttention(
  q: tf.Tensor,
  k: tf.Tensor,
  v: tf.Tensor,
  lengths?: tf.Tensor,
  window?: number,
): tf.Tensor {
  const [batch, time, heads, headDim] = q.shape;
  const kvHeads = k.shape[2]!;
  const wanted = [batch, time, kvHeads, headDim];
  if (q.rank !== 4 || `${k.shape}` !== `${wanted}` || `${v.shape}` !== `${wanted}`) {
    throw new RangeError(
      `Cannot attend: k and v must be [batch, time, kvHeads, headDim] like q, ` +
        `got q [${q.shape}], k [${k.shape}], v [${v.shape}]`,
    );
  }
  if (heads! % kvHeads !== 0) {
    throw new RangeError(
      `Cannot attend: the heads of q must be a multiple of those of k, got ${heads} and ${kvHeads}`,
    );
  }
  const inputs: Record<string, tf.Tensor> = lengths ? { q, k, v, lengths } : { q, k, v };
  // A kernel of its own: GPUs have none with a window, and compute it in plain steps.
  const kernel = `Arpo${window === undefined ? "Causal" : "Window"}Attention${lengths ? "Padded" : ""}`;
  return fused(kernel, inputs, window === undefined ? {} : { window }, 1, () => [
    plain(q, k, v, lengths, window),
  ])[0]!;
}

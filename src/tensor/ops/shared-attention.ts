import { fused } from "../fused.js";
import type { tf } from "../tfjs.js";
import { causalAttention } from "./causal-attention.js";
import { embed } from "./embed.js";

/**
 * Causal attention of rows that share the tokens they begin with: q [1, tokens, heads, headDim], k and v with kvHeads,
 * and where each stands (`unfold` and `fold` of `Sharing`). A token sees those before it in its rows, once for all of
 * them, and counts once; gives [1, tokens, heads * headDim]. Differentiable in q, k and v.
 */
export function sharedAttention(
  { q, k, v }: { q: tf.Tensor; k: tf.Tensor; v: tf.Tensor },
  lengths: tf.Tensor,
  { unfold, fold }: { unfold: tf.Tensor2D; fold: tf.Tensor1D },
  window?: number,
): tf.Tensor {
  const [rows, time] = unfold.shape;
  /** Laid out as rows, each token as often as it stands there. */
  const apart = (x: tf.Tensor): tf.Tensor => {
    const [, tokens, heads, headDim] = x.shape as [number, number, number, number];
    const flat: tf.Tensor = x.reshape([tokens, heads * headDim]);
    return embed(flat, unfold).reshape([rows, time, heads, headDim]);
  };
  const inputs = { q, k, v, lengths, unfold };
  const attributes = window === undefined ? {} : { window };
  return fused("ArpoSharedAttention", inputs, attributes, 1, () => {
    const attended = causalAttention(apart(q), apart(k), apart(v), lengths, window);
    const width = attended.shape[2]!;
    return [embed(attended.reshape([rows * time, width]), fold).expandDims(0)];
  })[0]!;
}

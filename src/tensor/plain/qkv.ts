import { tf } from "../tfjs.js";
import { linear } from "./linear.js";
import { rmsNorm } from "./rms-norm.js";
import { rope } from "./rope.js";

/** The projections of one attention layer, each [out, in]; what a model lacks is left out. */
export interface QkvWeights {
  wq: tf.Tensor;
  wk: tf.Tensor;
  wv: tf.Tensor;
  bq?: tf.Tensor;
  bk?: tf.Tensor;
  bv?: tf.Tensor;
  /** RMSNorm weights over one head's dimensions (Qwen3). */
  qNorm?: tf.Tensor;
  kNorm?: tf.Tensor;
}

/** How the projections divide into heads. */
export interface QkvShape {
  heads: number;
  kvHeads: number;
  headDim: number;
  /** For qNorm and kNorm. */
  epsilon: number;
}

/** Queries [batch, time, heads, headDim]; keys and values [batch, time, kvHeads, headDim]. */
export interface Qkv {
  q: tf.Tensor;
  k: tf.Tensor;
  v: tf.Tensor;
}

/** Projects, splits into heads, normalises each head where the model does (Qwen3), then rotates. */
export function qkv(
  x: tf.Tensor,
  weights: QkvWeights,
  cos: tf.Tensor,
  sin: tf.Tensor,
  { heads, kvHeads, headDim, epsilon }: QkvShape,
): [tf.Tensor, tf.Tensor, tf.Tensor] {
  const [batch, time] = x.shape as [number, number];
  const project = (w: tf.Tensor, b: tf.Tensor | undefined, count: number) =>
    linear(x, w, b).reshape([batch, time, count, headDim]);
  let q: tf.Tensor = project(weights.wq, weights.bq, heads);
  let k: tf.Tensor = project(weights.wk, weights.bk, kvHeads);
  if (weights.qNorm) q = rmsNorm(q, weights.qNorm, epsilon);
  if (weights.kNorm) k = rmsNorm(k, weights.kNorm, epsilon);
  return [rope(q, cos, sin), rope(k, cos, sin), project(weights.wv, weights.bv, kvHeads)];
}

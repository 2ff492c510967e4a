import { logProbEntropy } from "./log-prob.js";
import { tf } from "./tfjs.js";

/** 0 where a query may look (`window` positions up to its own), a very negative number elsewhere. */
function causalMask(time: number, window: number): tf.Tensor {
  const mask = new Float32Array(time * time);
  for (let query = 0; query < time; query++) {
    mask.fill(-1e30, query * time + query + 1, (query + 1) * time);
    mask.fill(-1e30, query * time, query * time + Math.max(0, query + 1 - window));
  }
  return tf.tensor2d(mask, [time, time]);
}

/** softmax(q k^T / sqrt(headDim)) v for each head; rows past their length give 0. */
export function causalAttention(
  q: tf.Tensor,
  k: tf.Tensor,
  v: tf.Tensor,
  lengths?: tf.Tensor,
  window = Infinity,
): tf.Tensor {
  const [batch, time, heads, headDim] = q.shape as [number, number, number, number];
  const kvHeads = k.shape[2]!;
  const group = heads / kvHeads;
  // The queries that share a key head are stacked, so that no key or value is repeated.
  const queries: tf.Tensor = q
    .reshape([batch, time, kvHeads, group, headDim])
    .transpose([0, 2, 3, 1, 4])
    .reshape([batch, kvHeads, group * time, headDim]);
  const keys: tf.Tensor = k.transpose([0, 2, 1, 3]);
  const values: tf.Tensor = v.transpose([0, 2, 1, 3]);
  const scores = queries
    .matMul(keys, false, true)
    .div(Math.sqrt(headDim))
    .reshape([batch, kvHeads, group, time, time])
    .add(causalMask(time, window));
  const mixed: tf.Tensor = tf
    .softmax(scores)
    .reshape([batch, kvHeads, group * time, time])
    .matMul(values)
    .reshape([batch, kvHeads, group, time, headDim])
    .transpose([0, 3, 1, 2, 4])
    .reshape([batch, time, heads * headDim]);
  if (!lengths) return mixed;
  const inside = tf
    .range(0, time, 1, "int32")
    .reshape([1, time])
    .less(lengths.reshape([batch, 1]));
  return mixed.mul(inside.cast("float32").reshape([batch, time, 1]));
}

/** The rows of the table that the ids name. */
export function embed(table: tf.Tensor, ids: tf.Tensor): tf.Tensor {
  return tf.gather(table, ids);
}

/** x W^T + b, with W as checkpoints store it: [out, in]. */
export function linear(x: tf.Tensor, weight: tf.Tensor, bias?: tf.Tensor): tf.Tensor {
  const [outputs, inputs] = weight.shape as [number, number];
  const rows = x.reshape([-1, inputs]).matMul(weight, false, true);
  return (bias ? rows.add(bias) : rows).reshape([...x.shape.slice(0, -1), outputs]);
}

/** The logits are hidden head^T; the rest is logProbEntropy. */
export function logProbEntropyFromHidden(
  hidden: tf.Tensor,
  head: tf.Tensor,
  labels: tf.Tensor,
  temperature: number,
): [tf.Tensor, tf.Tensor] {
  const { logprobs, entropies } = logProbEntropy(
    hidden.matMul(head, false, true),
    labels,
    temperature,
  );
  return [logprobs, entropies];
}

/** x / sqrt(mean(x^2) + epsilon) * weight, over the last axis. */
export function rmsNorm(x: tf.Tensor, weight: tf.Tensor, epsilon: number): tf.Tensor {
  return x.mul(x.square().mean(-1, true).add(epsilon).rsqrt()).mul(weight);
}

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

/** silu(gate) * up, where silu(z) = z sigmoid(z). */
export function swiglu(gate: tf.Tensor, up: tf.Tensor): tf.Tensor {
  return gate.mul(tf.sigmoid(gate)).mul(up);
}

/** gelu(gate) * up, where gelu is in its tanh form, z sigmoid(1.5957691216 (z + 0.044715 z^3)). */
export function geglu(gate: tf.Tensor, up: tf.Tensor): tf.Tensor {
  const inner = gate.square().mul(0.044715).add(1).mul(gate).mul(1.5957691216057308);
  return gate.mul(tf.sigmoid(inner)).mul(up);
}

/** The k largest log-probabilities of each row's softmax and their ids, in falling order. */
export function topKFromHidden(
  hidden: tf.Tensor,
  head: tf.Tensor,
  k: number,
  temperature: number,
): [tf.Tensor, tf.Tensor] {
  const logits: tf.Tensor = hidden.matMul(head, false, true).div(temperature);
  const { values, indices } = tf.topk(logits, k);
  return [values.sub(logits.logSumExp(-1, true)), indices];
}

import { tf } from "../tfjs.js";

/** 0 where a query may look (its own position and before), a very negative number elsewhere. */
function causalMask(time: number): tf.Tensor {
  const mask = new Float32Array(time * time);
  for (let query = 0; query < time; query++) {
    mask.fill(-1e30, query * time + query + 1, (query + 1) * time);
  }
  return tf.tensor2d(mask, [time, time]);
}

/** softmax(q k^T / sqrt(headDim)) v for each head; rows past their length give 0. */
export function causalAttention(
  q: tf.Tensor,
  k: tf.Tensor,
  v: tf.Tensor,
  lengths?: tf.Tensor,
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
    .add(causalMask(time));
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

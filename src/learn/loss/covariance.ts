import { tf } from "../../tensor/tf.js";
import type { Tensor } from "./aggregate.js";

/**
 * 1 on the entries of the greatest keys, at most `count` of them, among those that are candidates; of
 * equal keys the first is taken. All by tensors, so that nothing is read back from a device.
 */
export function greatest(keys: Tensor, candidates: Tensor, count: Tensor): Tensor {
  const flat: Tensor = tf
    .where(candidates.cast("bool"), keys, tf.onesLike(keys).mul(-1e30))
    .reshape([-1]);
  const all = flat.shape[0]!;
  const { indices } = tf.topk(flat as tf.Tensor1D, all);
  const taken = tf.range(0, all).less(count).cast("float32");
  const spread: Tensor = tf.scatterND(indices.reshape([all, 1]).cast("int32"), taken, [all]);
  return spread.reshape(keys.shape).mul(candidates.cast("float32"));
}

/** How many tokens a share of the batch is: one at least. */
export function shareOf(tokens: Tensor, share: number): Tensor {
  return tf.maximum(tokens.mul(share).floor(), 1);
}

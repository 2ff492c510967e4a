import { tf } from "../tfjs.js";

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

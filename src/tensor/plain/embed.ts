import { tf } from "../tfjs.js";

/** The rows of the table that the ids name. */
export function embed(table: tf.Tensor, ids: tf.Tensor): tf.Tensor {
  return tf.gather(table, ids);
}

import { fused } from "../fused.js";
import { topKFromHidden as plain } from "../plain.js";
import type { tf } from "../tfjs.js";
import { checkHead } from "./log-prob-entropy-from-hidden.js";

/**
 * The k largest log-probabilities of each row and their ids, in falling order (the lower id first
 * where two are equal), under the logits hidden head^T / temperature. Not differentiable.
 */
export function topKFromHidden(
  hidden: tf.Tensor,
  head: tf.Tensor,
  k: number,
  temperature = 1,
): { logprobs: tf.Tensor; ids: tf.Tensor } {
  checkHead("take the top k", hidden, head, temperature);
  if (!Number.isInteger(k) || k < 1 || k > head.shape[0]!) {
    throw new RangeError(
      `Cannot take the top k: k must be an integer from 1 to ${head.shape[0]}, got ${k}`,
    );
  }
  const [logprobs, ids] = fused("ArpoTopK", { hidden, head }, { k, temperature }, 2, () =>
    plain(hidden, head, k, temperature),
  ) as [tf.Tensor, tf.Tensor];
  return { logprobs, ids };
}

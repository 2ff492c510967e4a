import { logProbEntropy } from "../log-prob.js";
import type { tf } from "../tfjs.js";

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

import { detached } from "../detached.js";
import { fused } from "../fused.js";
import { logProbEntropyFromHidden as plain } from "../plain.js";
import type { tf } from "../tfjs.js";

/**
 * ln p(label) and the entropy of the full softmax for each row of hidden [rows, width], under the
 * logits hidden head^T / temperature with head [vocabulary, width]. The fused version never holds all
 * logits at once. Differentiable in hidden and head, through both results; in hidden alone where the head
 * is `frozen`, which saves the time and the memory of its gradient.
 */
export function logProbEntropyFromHidden(
  hidden: tf.Tensor,
  head: tf.Tensor,
  labels: tf.Tensor,
  temperature = 1,
  frozen = false,
): { logprobs: tf.Tensor; entropies: tf.Tensor } {
  checkHead("take log-probabilities", hidden, head, temperature);
  if (labels.dtype !== "int32" || labels.size !== hidden.shape[0]) {
    throw new RangeError(
      `Cannot take log-probabilities: labels must be int32, one for each of ${hidden.shape[0]} rows, ` +
        `got ${labels.dtype} [${labels.shape}]`,
    );
  }
  const [logprobs, entropies] = fused(
    "ArpoLogProbEntropy",
    { hidden, head, labels },
    { temperature, frozen },
    2,
    () => plain(hidden, frozen ? detached(head) : head, labels, temperature),
  ) as [tf.Tensor, tf.Tensor];
  return { logprobs, entropies };
}

/** Throws unless hidden and head can be multiplied and the temperature divides. */
export function checkHead(
  action: string,
  hidden: tf.Tensor,
  head: tf.Tensor,
  temperature: number,
): void {
  if (hidden.rank !== 2 || head.rank !== 2 || hidden.shape[1] !== head.shape[1]) {
    throw new RangeError(
      `Cannot ${action}: hidden must be [rows, width] and head [vocabulary, width], ` +
        `got [${hidden.shape}] and [${head.shape}]`,
    );
  }
  if (!(temperature > 0)) {
    throw new RangeError(`Cannot ${action}: temperature must be positive, got ${temperature}`);
  }
}

import { detached } from "../detached.js";
import { fused } from "../fused.js";
import { logProbEntropyFromHidden as plain } from "../plain.js";
import { tf } from "../tf.js";
import { embed } from "./embed.js";

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

/** Far below every logit, and finite: its difference to itself is 0. */
const cutOff = -1e30;

/**
 * Log-probabilities of labels over what was left of the vocabulary where each was sampled: z[label] - logsumexp of the
 * logits z that were left. A label without a support keeps what it has, over the whole vocabulary; a label counts
 * to its support. Differentiable in the logits and in `logprobs`; one that was left alone has 0 and no gradient.
 * @param logprobs over the whole vocabulary, [count]
 * @param supports each label with the ids that were left; none is the whole vocabulary
 * @param logitsAt logits, up to a constant for each label and divided by the temperature, of some of the labels: [n, vocabulary]
 */
export function overSupports(
  logprobs: tf.Tensor1D,
  supports: readonly { label: number; ids: Int32Array }[],
  logitsAt: (rows: tf.Tensor1D) => tf.Tensor,
): tf.Tensor1D {
  const rows = supports.flatMap(({ ids }, i) => (ids.length > 0 ? [i] : []));
  if (rows.length === 0) return logprobs;
  const z = logitsAt(tf.tensor1d(rows, "int32"));
  const vocabulary = z.shape[1]!;
  const mask = new Float32Array(rows.length * vocabulary).fill(cutOff);
  const places = Int32Array.from(rows, (row, i) => i * vocabulary + supports[row]!.label);
  rows.forEach((row, i) => {
    for (const id of supports[row]!.ids) if (id < vocabulary) mask[i * vocabulary + id] = 0;
    mask[places[i]!] = 0;
  });
  const own = embed(z.reshape([-1, 1]), tf.tensor1d(places, "int32")).reshape<tf.Tensor1D>([-1]);
  const left = z.add(tf.tensor2d(mask, [rows.length, vocabulary])).logSumExp(-1);
  const order = Int32Array.from(supports, (_, i) => i);
  rows.forEach((row, i) => (order[row] = supports.length + i));
  const all = tf.concat([logprobs, own.sub<tf.Tensor1D>(left)]);
  return embed(all.expandDims(1), tf.tensor1d(order, "int32")).reshape([-1]);
}

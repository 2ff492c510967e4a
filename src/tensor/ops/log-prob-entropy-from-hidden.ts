import { detached } from "../detached.js";
import { fused } from "../fused.js";
import { logProbEntropyFromHidden as plain } from "../plain.js";
import { tf } from "../tf.js";
import { embed } from "./embed.js";
import { linear } from "./linear.js";

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

/** A label and the ids that were left where it was sampled; none is the whole vocabulary. */
export interface LabelSupport {
  label: number;
  ids: Int32Array;
}

/**
 * Log-probabilities of labels over what was left of the vocabulary where each was sampled: z[label] - logsumexp of the
 * logits z that were left. A label without a support keeps what it has, over the whole vocabulary. Differentiable
 * in the logits and in `logprobs`; a label that was left alone has 0 and no gradient. Labels with about as many ids are
 * computed together.
 * @param logprobs over the whole vocabulary, [count]
 * @param supports for each label
 * @param logitsAt logits, up to a constant for each label and divided by the temperature, of `ids` [n, width] of labels `rows` [n]
 */
export function overSupports(
  logprobs: tf.Tensor1D,
  supports: readonly LabelSupport[],
  logitsAt: (rows: Int32Array, ids: Int32Array, width: number) => tf.Tensor,
): tf.Tensor1D {
  const byWidth = new Map<number, number[]>();
  supports.forEach(({ ids }, i) => {
    if (ids.length === 0) return;
    // The label is first, its support after it.
    const width = 2 ** Math.ceil(Math.log2(ids.length + 1));
    byWidth.set(width, [...(byWidth.get(width) ?? []), i]);
  });
  const order = Int32Array.from(supports, (_, i) => i);
  const parts: tf.Tensor[] = [logprobs];
  let done = supports.length;
  for (const [width, rows] of [...byWidth].sort(([a], [b]) => a - b)) {
    const all = new Int32Array(rows.length * width);
    const mask = new Float32Array(rows.length * width).fill(cutOff);
    rows.forEach((row, i) => {
      const { label, ids } = supports[row]!;
      all.fill(label, i * width, (i + 1) * width);
      all.set(ids, i * width + 1);
      mask.fill(0, i * width + 1, i * width + 1 + ids.length);
      // The label counts to its support.
      if (!ids.includes(label)) mask[i * width] = 0;
      order[row] = done++;
    });
    const z = logitsAt(Int32Array.from(rows), all, width);
    const left = z.add<tf.Tensor>(tf.tensor2d(mask, [rows.length, width])).logSumExp(-1);
    const firsts = Int32Array.from(rows, (_, i) => i * width);
    const own = embed(z.reshape([-1, 1]), tf.tensor1d(firsts, "int32")).reshape([-1]);
    parts.push(own.sub(left));
  }
  if (parts.length === 1) return logprobs;
  return embed(tf.concat(parts).expandDims(1), tf.tensor1d(order, "int32")).reshape([-1]);
}

/** The same numbers of `overSupports` from logits that are there, [count, vocabulary]. */
export const logitsOf =
  (logits: tf.Tensor) =>
  (rows: Int32Array, ids: Int32Array, width: number): tf.Tensor => {
    const vocabulary = logits.shape[1]!;
    const places = ids.map((id, i) => rows[Math.floor(i / width)]! * vocabulary + id);
    return embed(logits.reshape([-1, 1]), tf.tensor1d(places, "int32")).reshape([-1, width]);
  };

/** And from hidden [count, size] and a table [vocabulary, size]: ids of few rows by their own products alone. */
export const logitsFrom =
  (hidden: tf.Tensor, table: tf.Tensor, temperature: number) =>
  (rows: Int32Array, ids: Int32Array, width: number): tf.Tensor => {
    const [vocabulary, size] = table.shape as [number, number];
    const own = embed(hidden, tf.tensor1d(rows, "int32"));
    const numbers = Int32Array.from(rows, (_, i) => i);
    if (width * size > vocabulary * 4) {
      return logitsOf(linear(own, table).div(temperature))(numbers, ids, width);
    }
    const some = embed(table, tf.tensor1d(ids, "int32")).reshape([rows.length, width, size]);
    return tf
      .matMul(own.expandDims(1), some, false, true)
      .reshape<tf.Tensor>([rows.length, width])
      .div(temperature);
  };

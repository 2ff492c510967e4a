import type { Model } from "../../model/transformer/transformer.js";
import { shareRows } from "../../model/transformer/sharing.js";
import { tf } from "../../tensor/tf.js";
import { type Example, ignored } from "./encode.js";

/** Tokens of an example that are learned: the first has nothing before it to be predicted from. */
export const labelled = (example: Example): number =>
  example.labels.reduce((n, label, i) => n + Number(i > 0 && label !== ignored), 0);

/**
 * Summed cross-entropy of the labelled tokens: each position predicts the token behind it. Divide by
 * the number of labelled tokens for their mean. With `sharedPrefixes`, what examples begin with in common
 * is computed once: the same loss and gradients, to rounding.
 */
export function crossEntropy(
  model: Model,
  examples: readonly Example[],
  options: { checkpointing?: boolean; sharedPrefixes?: boolean } = {},
): tf.Scalar {
  const { sharedPrefixes, ...how } = options;
  if (sharedPrefixes) return sharedCrossEntropy(model, examples, how);
  return tf.tidy(() => {
    const batch = model.batch(examples.map(({ ids }) => ids));
    const [rows, time] = batch.ids.shape;
    const labels = new Int32Array(rows * time);
    const mask = new Float32Array(rows * time);
    examples.forEach((example, r) => {
      for (let t = 1; t < example.labels.length; t++) {
        if (example.labels[t] === ignored) continue;
        labels[r * time + t - 1] = example.labels[t]!;
        mask[r * time + t - 1] = 1;
      }
    });
    const wanted = tf.tensor2d(labels, [rows, time], "int32");
    const { logprobs } = model.logProbs(batch, wanted, how);
    return logprobs
      .mul(tf.tensor2d(mask, [rows, time]))
      .sum()
      .neg()
      .asScalar();
  });
}

/** Beginnings that examples have in common are computed once, and only what is learned gets logits. */
function sharedCrossEntropy(
  model: Model,
  examples: readonly Example[],
  options: { checkpointing?: boolean },
): tf.Scalar {
  return tf.tidy(() => {
    const { batch, index, time } = shareRows(
      examples.map(({ ids }) => ids),
      model.config,
    );
    const after: number[] = [];
    const labels: number[] = [];
    examples.forEach((example, r) => {
      for (let t = 1; t < example.labels.length; t++) {
        if (example.labels[t] === ignored) continue;
        after.push(index[r * time + t - 1]!);
        labels.push(example.labels[t]!);
      }
    });
    const places = tf.tensor1d(after, "int32");
    const { logprobs } = model.logProbsAt(batch, places, tf.tensor1d(labels, "int32"), options);
    return logprobs.sum().neg().asScalar();
  });
}

import { checkArguments } from "../../common/options/check-arguments.js";
import { tf } from "./tf.js";

type Tensor = InstanceType<typeof tf.Tensor>;

/**
 * Log-probability of each label and entropy of the full softmax, from logits divided by a temperature:
 * z[label] - logsumexp(z) and logsumexp(z) - sum(softmax(z) z). Differentiable in the logits.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { logProbEntropy } from "arpo-lab/experimental/learn";
 * import { tf } from "arpo-lab/model";
 *
 * const { logprobs, entropies } = logProbEntropy(tf.zeros([1, 4]), tf.tensor1d([2], "int32"), 1);
 * assert.ok(Math.abs(logprobs.dataSync()[0] + Math.log(4)) < 1e-6);
 * assert.ok(Math.abs(entropies.dataSync()[0] - Math.log(4)) < 1e-6);
 * ```
 */
export function logProbEntropy(
  logits: Tensor,
  labels: Tensor,
  temperature: number,
): { logprobs: Tensor; entropies: Tensor } {
  checkArguments(
    "measure log-probabilities",
    { logits, labels, temperature },
    { logits: "tensor", labels: "tensor", temperature: "number" },
  );
  const z: Tensor = logits.div(temperature);
  const vocabulary = z.shape[z.rank - 1]!;
  const normaliser: Tensor = z.logSumExp(-1);
  const chosen: Tensor = z.mul(tf.oneHot(labels.toInt(), vocabulary).cast("float32")).sum(-1);
  return {
    logprobs: chosen.sub(normaliser),
    entropies: normaliser.sub(tf.softmax(z).mul(z).sum(-1)),
  };
}

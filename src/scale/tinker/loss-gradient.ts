import {
  type PassLogProbs,
  type PassRow,
  gatherFrom,
  spreadOver,
} from "../../learn/update/passes.js";
import type { PassLoss } from "../../learn/update/trainee.js";
import { gradientsOf } from "../../tensor/gradients.js";
import { tf } from "../../tensor/tf.js";
import { surprisals } from "./surprisal.js";

/** The figures of a pass's loss, and its gradient with respect to each response token's ln p. */
export interface LossGradient {
  gradients: Float32Array[];
  figures: Record<string, Float32Array>;
}

/**
 * dL/dlogp of a loss at given log-probabilities, by row. Where entropies are asked for, surprisals stand
 * for them, without a gradient.
 */
export async function lossGradient<R extends PassRow>(
  rows: R[],
  logprobs: readonly Float32Array[],
  lossOf: (rows: R[], found: PassLogProbs) => PassLoss,
): Promise<LossGradient> {
  const numbers = new Map(rows.map((row, i) => [row, logprobs[i]!]));
  const [at, entropies] = tf.tidy(() => [
    tf.variable(spreadOver(rows, (row) => numbers.get(row)!)),
    tf.keep(spreadOver(rows, (row) => surprisals(numbers.get(row)!))),
  ]) as [tf.Variable<tf.Rank.R2>, tf.Tensor2D];
  const kept: Record<string, tf.Tensor> = {};
  const { value, gradients } = gradientsOf(
    () => {
      const { loss, figures } = lossOf(rows, { logprobs: at, entropies });
      for (const [name, figure] of Object.entries(figures)) kept[name] = tf.keep(figure.clone());
      return loss.asScalar();
    },
    new Map([["logprobs", at as tf.Variable]]),
  );
  const { logprobs: gradient } = gradients;
  const read = async (tensor: tf.Tensor) => (await tensor.data()) as Float32Array;
  const figures: LossGradient["figures"] = {};
  for (const [name, figure] of Object.entries(kept)) figures[name] = await read(figure);
  const out = gatherFrom(rows, await read(gradient!));
  tf.dispose([value, at, entropies, gradient!, ...Object.values(kept)]);
  return { gradients: out, figures };
}

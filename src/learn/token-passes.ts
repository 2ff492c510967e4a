import type { Model } from "../model/index.js";
import { tf } from "../tensor/index.js";
import type { BatchRow } from "./batch.js";

/** Rows that go through the model together. */
export interface Pass {
  rows: readonly BatchRow[];
  /** Prompt and response of each row, padded on the right. */
  batch: ReturnType<Model["batch"]>;
  /** The token behind each position, [rows, time]. */
  labels: tf.Tensor2D;
  time: number;
}

/** Tokens of a row, prompt and response. */
const length = ({ trajectory }: BatchRow) => trajectory.prompt.length + trajectory.tokens.length;

/**
 * Splits rows, in order, so that no pass holds more than so many tokens with its padding, or more than
 * so many rows; a longer row goes alone.
 */
export function splitByTokens(
  rows: readonly BatchRow[],
  maxTokens: number,
  maxRows = Infinity,
): BatchRow[][] {
  const passes: BatchRow[][] = [];
  let longest = 0;
  for (const row of rows) {
    const current = passes[passes.length - 1];
    const grown = Math.max(longest, length(row));
    if (current && current.length < maxRows && grown * (current.length + 1) <= maxTokens) {
      current.push(row);
      longest = grown;
    } else {
      passes.push([row]);
      longest = length(row);
    }
  }
  return passes;
}

/** Builds the tensors of one pass. Call inside a tidy. */
export function openPass(model: Model, rows: readonly BatchRow[]): Pass {
  const tokens = rows.map(({ trajectory: { prompt, tokens: response } }) => {
    const all = new Int32Array(prompt.length + response.length);
    all.set(prompt);
    all.set(response, prompt.length);
    return all;
  });
  const batch = model.batch(tokens);
  const time = batch.ids.shape[1];
  const labels = new Int32Array(rows.length * time);
  tokens.forEach((row, r) => labels.set(row.subarray(1), r * time));
  return { rows, batch, labels: tf.tensor2d(labels, [rows.length, time], "int32"), time };
}

/**
 * Lays one number per response token out over a pass: a token's number stands where it is predicted,
 * one position before the token itself.
 */
export function spreadOver(
  { rows, time }: Pass,
  pick: (row: BatchRow) => ArrayLike<number>,
): tf.Tensor2D {
  const out = new Float32Array(rows.length * time);
  rows.forEach((row, r) => {
    out.set(pick(row) as Float32Array, r * time + row.trajectory.prompt.length - 1);
  });
  return tf.tensor2d(out, [rows.length, time]);
}

/** The inverse of `spreadOver`: each row's response tokens from the numbers of a pass over the rows. */
export function gatherFrom(rows: readonly BatchRow[], values: Float32Array): Float32Array[] {
  const time = values.length / rows.length;
  return rows.map(({ trajectory }, r) => {
    const from = r * time + trajectory.prompt.length - 1;
    return values.slice(from, from + trajectory.tokens.length);
  });
}

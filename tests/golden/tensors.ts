import { actorLoss } from "../../src/learn/losses/losses.js";
import type { ActorLossOptions } from "../../src/learn/losses/loss-rules.js";
import { tf } from "../../src/tensor/tf.js";

// What runners of several kinds share: matrices of a case as tensors, and a loss with its gradient.

export type Tensor = InstanceType<typeof tf.Tensor>;
export type Matrix = number[][];

export const matrix = (rows: Matrix): Tensor => tf.tensor2d(rows);
export const number = (x: Tensor) => x.dataSync()[0]!;
/** A value of a case; null there means unset. */
export const set = <T>(value: T | null | undefined) => value ?? undefined;
export const ones = (rows: Matrix): Matrix => rows.map((row) => row.map(() => 1));
/** Rows of different lengths, padded. */
export const padded = (rows: Matrix): Matrix => {
  const time = Math.max(...rows.map((row) => row.length));
  return rows.map((row) => [...row, ...new Array<number>(time - row.length).fill(0)]);
};
/** One number per row on all of its tokens. */
export const onRows = (values: readonly number[], like: Matrix): Matrix =>
  like.map((row, i) => row.map(() => values[i]!));

// Inputs are described in the files themselves.
/* eslint-disable @typescript-eslint/no-explicit-any */

/** A loss at log-probabilities with its gradient and its figures. */
export function lossAt(at: Matrix, input: (x: Tensor) => any, options: ActorLossOptions) {
  const of = (x: Tensor) => actorLoss(input(x), options);
  const { value, grad } = tf.valueAndGrad((x: Tensor) => of(x).loss.asScalar())(matrix(at));
  const { metrics } = of(matrix(at));
  return { loss: number(value), gradient: grad.arraySync() as Matrix, metrics };
}

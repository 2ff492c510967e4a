import { Random } from "../../../src/base/random/random.js";
import { tf } from "../../../src/tensor/tf.js";

export type Tensor = InstanceType<typeof tf.Tensor>;
export type Matrix = number[][];

/** What a masked token may have in its place. */
export const fillers = [NaN, Infinity, -Infinity, 1e30];

/** A source of random matrices of one shape, and a mask over them whose first row has a one. */
export function shapes(seed: number) {
  const random = Random.from(seed);
  const [rows, time] = [2 + random.integer(3), 3 + random.integer(5)];
  const matrix = (of: () => number): Matrix =>
    Array.from({ length: rows }, () => Array.from({ length: time }, of));
  const mask = matrix(() => Number(random.uniform() < 0.6));
  // A turn of two tokens at least, and a masked token.
  mask[0]!.splice(0, 3, 1, 1, 0);
  return { random, mask, matrix, normal: () => matrix(() => random.normal()) };
}

/** The matrix with a number in every place that the mask leaves out. */
export const filled = (values: Matrix, mask: Matrix, by: number): Matrix =>
  values.map((row, i) => row.map((v, t) => (mask[i]![t] ? v : by)));

/** The same in lists of another kind, in place. */
export function fill(values: Float32Array | undefined, mask: ArrayLike<number>, by: number): void {
  values?.forEach((_, t) => {
    if (!mask[t]) values[t] = by;
  });
}

/** Numbers as bytes, so that NaN is equal to itself and 0 not to -0. */
export const bytes = (values: Iterable<number>): string =>
  Buffer.from(Float64Array.from(values).buffer).toString("hex");

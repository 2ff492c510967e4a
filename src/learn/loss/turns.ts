import { tf } from "../../tensor/tf.js";
import type { Tensor } from "./aggregate.js";

/** The rows of a mask tensor as numbers. */
export function maskRows(mask: Tensor): Float32Array[] {
  const [rows, time] = mask.shape as [number, number];
  const flat = mask.dataSync() as Float32Array;
  return Array.from({ length: rows }, (_, r) => flat.subarray(r * time, (r + 1) * time));
}

/** Which turn each token is in, [rows, turns, tokens], of the turns 1 to `count`. */
export function turnPlaces(turns: readonly ArrayLike<number>[], count: number): tf.Tensor3D {
  const time = turns[0]?.length ?? 0;
  const places = new Float32Array(turns.length * count * time);
  turns.forEach((row, r) => {
    for (let t = 0; t < row.length; t++) {
      const turn = row[t]!;
      if (turn >= 1 && turn <= count) places[(r * count + turn - 1) * time + t] = 1;
    }
  });
  return tf.tensor3d(places, [turns.length, count, time]);
}

/** The sum of each turn's values, [rows, turns]. */
export function sumByTurn(values: Tensor, places: tf.Tensor3D): tf.Tensor2D {
  return tf.matMul(places, values.expandDims(2) as tf.Tensor3D).squeeze([2]);
}

/** What each turn has, laid on its tokens; 0 on the others, [rows, tokens]. */
export function spreadByTurn(values: tf.Tensor2D, places: tf.Tensor3D): tf.Tensor2D {
  return tf.matMul<tf.Tensor3D>(values.expandDims(1), places).squeeze([1]);
}

import { tf } from "../../tensor/tf.js";
import type { ModelConfig } from "../config.js";
import { batchTokens, type TokenBatch } from "./token-batch.js";

/** Rows laid over each other, ready for `Model.forward`; `index` is `unfold` as numbers. */
interface SharedRows {
  batch: Required<TokenBatch>;
  time: number;
  index: Int32Array;
}

/** Which tokens rows have when they are laid over each other where they begin alike, and where each stands. */
export function sharedPlaces(rows: readonly ArrayLike<number>[]) {
  const time = Math.max(...rows.map((row) => row.length));
  const index = new Int32Array(rows.length * time);
  const shared: number[] = [];
  const positions: number[] = [];
  const fold: number[] = [];
  // The shared token that follows another (-1 at the beginning), by the following token's id.
  const followers = new Map<number, Map<number, number>>();
  rows.forEach((row, r) => {
    let at = -1;
    for (let t = 0; t < row.length; t++) {
      let after = followers.get(at);
      if (!after) followers.set(at, (after = new Map()));
      let next = after.get(row[t]!);
      if (next === undefined) {
        next = shared.length;
        shared.push(row[t]!);
        positions.push(t);
        fold.push(r * time + t);
        after.set(row[t]!, next);
      }
      index[r * time + t] = next;
      at = next;
    }
  });
  return { shared, positions, fold, index, time };
}

/** Lays rows over each other where they begin with the same tokens. */
export function shareRows(rows: readonly ArrayLike<number>[], config: ModelConfig): SharedRows {
  const { ids, lengths } = batchTokens(rows, config);
  ids.dispose();
  const { shared, positions, fold, index, time } = sharedPlaces(rows);
  return {
    batch: {
      ids: tf.tensor2d(shared, [1, shared.length], "int32"),
      lengths,
      sharing: {
        positions: tf.tensor1d(positions, "int32"),
        unfold: tf.tensor2d(index, [rows.length, time], "int32"),
        fold: tf.tensor1d(fold, "int32"),
      },
    },
    time,
    index,
  };
}

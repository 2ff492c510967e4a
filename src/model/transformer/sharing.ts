import { causalAttention } from "../../tensor/ops/causal-attention.js";
import { embed } from "../../tensor/ops/embed.js";
import { tf } from "../../tensor/tf.js";
import type { ModelConfig } from "../config.js";
import { batchTokens, type Sharing, type TokenBatch } from "./token-batch.js";

/** Rows laid over each other, ready for `Model.forward`; `index` is `unfold` as numbers. */
interface SharedRows {
  batch: Required<TokenBatch>;
  time: number;
  index: Int32Array;
}

/** Lays rows over each other where they begin with the same tokens. */
export function shareRows(rows: readonly ArrayLike<number>[], config: ModelConfig): SharedRows {
  const { ids, lengths } = batchTokens(rows, config);
  const time = ids.shape[1];
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
  ids.dispose();
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

/** Attention of shared tokens: laid out as rows, where each sees those before it, and back again. */
export function sharedAttention(
  { q, k, v }: { q: tf.Tensor; k: tf.Tensor; v: tf.Tensor },
  lengths: tf.Tensor | undefined,
  { unfold, fold }: Pick<Sharing, "unfold" | "fold">,
  window?: number,
): tf.Tensor {
  const [rows, time] = unfold.shape;
  const apart = (x: tf.Tensor): tf.Tensor => {
    const [, tokens, heads, headDim] = x.shape as [number, number, number, number];
    const flat: tf.Tensor = x.reshape([tokens, heads * headDim]);
    return embed(flat, unfold).reshape([rows, time, heads, headDim]);
  };
  const attended = causalAttention(apart(q), apart(k), apart(v), lengths, window);
  const width = attended.shape[2]!;
  return embed(attended.reshape([rows * time, width]), fold).expandDims(0);
}

import { tf } from "../../tensor/tf.js";
import type { ModelConfig } from "../config.js";

/**
 * How rows that begin alike are laid over each other: every different token once, in one row, and where
 * it stands in the rows. What a model computes at a token depends on the tokens before it alone, so
 * what is the same is computed once. Padding is left out, too.
 */
export interface Sharing {
  /** Each shared token's place in its rows, [tokens]. */
  positions: tf.Tensor1D;
  /** The shared token at each place of the rows, [rows, time]; 0 in the padding. */
  unfold: tf.Tensor2D;
  /** A place of the rows, counted through, that holds each shared token, [tokens]. */
  fold: tf.Tensor1D;
}

/**
 * Rows of tokens as the model takes them: padded on the right to one length. `Model.batch` makes them
 * and checks the ids, which tensors made by hand are not.
 */
export interface TokenBatch {
  /** [rows, time], int32. */
  ids: tf.Tensor2D;
  /** How many tokens of each row count, [rows], int32; all of them where it is left out. */
  lengths?: tf.Tensor1D;
  /** Set where rows were laid over each other (`shareRows`); `lengths` are those of the rows. */
  sharing?: Sharing;
}

/** Rows that were padded. */
export type PaddedBatch = Required<Omit<TokenBatch, "sharing">>;

/** Pads rows of token ids into one batch, after checking that a model of this config can take them. */
export function batchTokens(
  rows: readonly ArrayLike<number>[],
  { vocabSize, contextLength }: ModelConfig,
): PaddedBatch {
  const time = Math.max(...rows.map((row) => row.length), 0);
  if (time === 0 || rows.some((row) => row.length === 0)) {
    throw new RangeError("Cannot make a batch: there must be a token in every sequence, got none");
  }
  if (time > contextLength) {
    throw new RangeError(
      `Cannot make a batch: a sequence must fit into the context of ${contextLength} tokens, got ${time}`,
    );
  }
  const ids = new Int32Array(rows.length * time);
  for (const [r, row] of rows.entries()) {
    for (let t = 0; t < row.length; t++) {
      const id = row[t]!;
      if (!Number.isInteger(id) || id < 0 || id >= vocabSize) {
        throw new RangeError(
          `Cannot make a batch: a token id must be below ${vocabSize}, got ${id} (sequence ${r}, position ${t})`,
        );
      }
      ids[r * time + t] = id;
    }
  }
  return {
    ids: tf.tensor2d(ids, [rows.length, time], "int32"),
    lengths: tf.tensor1d(
      rows.map((row) => row.length),
      "int32",
    ),
  };
}

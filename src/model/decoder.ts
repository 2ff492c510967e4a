/** Sampling settings of one step, one entry per row that samples. */
export interface StepSampling {
  temperature: Float32Array;
  /** 0: keep all. */
  topK: Int32Array;
  topP: Float32Array;
  minP: Float32Array;
  repetitionPenalty: Float32Array;
  /** The uniform draw each row's token is chosen by. */
  uniform: Float64Array;
  /** Bit i of the mask allows id i; shared by all rows; absent allows every id. */
  allowed?: Uint32Array;
  /** How many of the most likely alternatives to report. */
  top: number;
}

/** What one step chose, one entry per row. */
export interface Sampled {
  tokens: Int32Array;
  logprobs: Float32Array;
  entropies: Float32Array;
  /** rows x top, in falling order. */
  topIds: Int32Array;
  topLogprobs: Float32Array;
}

/**
 * A decoder transformer with a key-value cache of rows that share their pasts.
 *
 * Implemented twice: by the compiled engine (native, wasm), one call per step for the whole model, and
 * in plain tfjs for every other backend. Both give the same answer for a row whatever else is in the
 * step.
 */
export interface Decoder {
  /** An empty row. */
  open(): number;
  /** A row with the same past, shared. */
  fork(row: number): number;
  /** Forgets all but the first `length` tokens of a row. */
  truncate(row: number, length: number): void;
  close(row: number): void;
  /** Tokens in a row. */
  length(row: number): number;
  /**
   * Feeds every listed row its tokens (`tokens[offsets[i]]` to `tokens[offsets[i + 1]]`, at least one)
   * and samples the next token of each. The sampled token is not yet part of the row.
   */
  step(
    rows: Int32Array,
    tokens: Int32Array,
    offsets: Int32Array,
    sampling: StepSampling,
  ): Sampled | Promise<Sampled>;
  /** Bytes held by the cache; a shared prefix counts once. */
  bytes(): number;
  dispose(): void;
}

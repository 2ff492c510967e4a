/** Sampling settings of one step, one entry per sequence that samples. */
export interface StepSampling {
  /** 0 is greedy; log-probabilities are then at temperature 1. */
  temperature: Float32Array;
  /** 0: keep all. */
  topK: Int32Array;
  /** 1: keep all. */
  topP: Float32Array;
  /** 0: keep all. */
  minP: Float32Array;
  /** 1: off. */
  repetitionPenalty: Float32Array;
  /** The uniform draw each sequence's token is chosen by. */
  uniform: Float64Array;
  /** Masks of ids, one behind the other: bit i of a mask allows id i. Absent: every id is allowed. */
  allowed?: Uint32Array;
  /** Which of the masks each sequence has; -1: none, every id is allowed. Absent: all have the first. */
  allowedAt?: Int32Array;
  /** 1 where a sequence's mask is a constraint: what it left is told, as of top-k. Absent: nowhere. */
  constrained?: Int32Array;
  /** How many of the most likely alternatives to report. */
  top: number;
}

/** What a step is given: sequence i is fed `tokens[offsets[i]]` to `tokens[offsets[i + 1]]`. */
export type Step = [
  ...[sequences: Int32Array, tokens: Int32Array, offsets: Int32Array],
  sampling: StepSampling,
];

/** What one step chose, one entry per sequence. */
export interface Sampled {
  tokens: Int32Array;
  logprobs: Float32Array;
  entropies: Float32Array;
  /** sequences x top, in falling order. */
  topIds: Int32Array;
  topLogprobs: Float32Array;
  /**
   * What top-k, top-p, min-p and a constraint left, a bit per id, sequences x words; all 0 where nothing was cut, and no words
   * where no sequence of the step was.
   */
  support: Uint32Array;
  /** ln of the probability that is left, of the whole distribution. */
  supportLogprobs: Float32Array;
}

/**
 * A decoder transformer with a key-value cache of sequences that share their pasts.
 *
 * Implemented three times: by the compiled engine (native, wasm), one call per step for the whole model;
 * on a GPU, one submit per step; and in plain TypeScript for every other backend. Each gives the same
 * answer for a sequence whatever else is in the step, and whether its tokens are fed in one step or in several.
 */
export interface Decoder {
  /** Entries of the embedding table; ids at or above it are refused. */
  readonly vocabSize: number;
  /** The longest sequence it can hold. */
  readonly contextLength: number;
  /** How matrices, or else keys and values, are kept where that is not in single precision. */
  readonly rounded?:
    "bfloat16" | "float16" | "int8" | "q4" | "w8a8" | "w4a8" | "w16a16" | undefined;
  /** An empty sequence. */
  open(): number;
  /** A sequence with the same past, shared. */
  fork(sequence: number): number;
  /** Forgets all but the first `length` tokens of a sequence. */
  truncate(sequence: number, length: number): void;
  close(sequence: number): void;
  /** Tokens in a sequence. */
  length(sequence: number): number;
  /**
   * Feeds every listed sequence its tokens (`tokens[offsets[i]]` to `tokens[offsets[i + 1]]`, at least one)
   * and samples the next token of each. The sampled token is not yet part of the sequence. A step that
   * throws leaves every sequence as it was.
   */
  step(...step: Step): Sampled | Promise<Sampled>;
  /** Takes up weights that training has changed. No sequence may be open: its past is of the old weights. */
  refresh(): void;
  /** Bytes held by the cache; a shared prefix counts once. */
  bytes(): number;
  dispose(): void;
}

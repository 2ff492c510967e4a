// The roofline: the least time that a piece of work takes within given limits.
import type { ModelConfig } from "../../../src/model/config.js";
import type { DecoderType } from "../../../src/model/decoder/weights.js";
import type { MachineLimits } from "../../../src/tensor/profile/machine.js";

/** Bytes of a weight in memory. */
const weightBytes: Record<DecoderType, number> = {
  ...{ float32: 4, bfloat16: 2, int8: 1, q4: 20 / 32, w8a8: 34 / 32, w4a8: 20 / 32, w16a16: 2 },
};

/** Numbers in one layer's matrices, and in the output matrix. */
function weightsOf(config: ModelConfig): { layer: number; head: number } {
  const { hiddenSize, intermediateSize, heads, kvHeads, headDim, vocabSize } = config;
  const attention = (2 * heads + 2 * kvHeads) * headDim * hiddenSize;
  return { layer: attention + 3 * intermediateSize * hiddenSize, head: vocabSize * hiddenSize };
}

/** What a step of decoding reads and computes. */
export interface DecodedStep {
  dtype: DecoderType;
  /** Sequences, and tokens of each that are fed. */
  rows: number;
  tokens: number;
  /** Positions that each attends to, of which the first are one prefix of all. */
  positions: number;
  shared: number;
}

/**
 * Seconds that one step takes at least: its products at the highest rate of the arithmetic in use, or its weights
 * and its keys and values (float32) read from memory, whichever is longer.
 */
export function decodeLimit(config: ModelConfig, step: DecodedStep, limits: MachineLimits): number {
  const { dtype, rows, tokens, positions, shared } = step;
  const { layers, heads, kvHeads, headDim } = config;
  const { layer, head } = weightsOf(config);
  const fed = rows * tokens;
  const attended = 4 * layers * heads * headDim * fed * (positions - (tokens - 1) / 2);
  const operations = 2 * fed * layers * layer + 2 * rows * head + attended;
  const cached = rows * (positions - shared) + shared;
  const bytes =
    (layers * layer + head) * weightBytes[dtype] + 4 * 2 * layers * kvHeads * headDim * cached;
  const rates = {
    w4a8: limits.integerProducts,
    w8a8: limits.integerProducts,
    w16a16: limits.bfloat16Products,
  } as Partial<Record<DecoderType, number>>;
  const rate = rates[dtype] ?? limits.products;
  return Math.max(operations / rate, bytes / limits.bandwidth);
}

/** Seconds that training takes at least: products at the highest rate, and the optimizer's bytes from memory. */
export function trainLimit(
  work: { operations: number; optimizerBytes: number },
  limits: MachineLimits,
): number {
  return work.operations / limits.products + work.optimizerBytes / limits.bandwidth;
}

/** Numbers in a model's matrices. */
export function weightCount(config: ModelConfig): number {
  const { layer, head } = weightsOf(config);
  return config.layers * layer + head;
}

/** Weights, gradients and two moments are read by a step of the optimizer, weights and moments written. */
const OPTIMIZER_BYTES = 4 * (4 + 3);

/** What a training step of so many sequences of so many tokens has to do at least. */
export function trainWork(config: ModelConfig, rows: number, time: number) {
  const { layers, heads, headDim } = config;
  const tokens = rows * time;
  const attention = 2 * layers * heads * headDim * tokens * (time + 1);
  const operations = 3 * (2 * tokens * weightCount(config) + attention);
  return { operations, optimizerBytes: OPTIMIZER_BYTES * weightCount(config) };
}

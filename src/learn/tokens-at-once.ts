import type { ModelConfig } from "../model/index.js";

/** What a pass may keep for its way back, in bytes. */
const kept = 3 * 2 ** 30;

/** A pass never holds more, however small the model. */
const most = 16_384;

/**
 * How many tokens go through a model together where nobody says: as many as leave 3 GiB for what a pass
 * keeps for its way back, at most 16,384. It depends on the model's sizes alone, so that the same run has
 * the same bytes on every machine.
 */
export function tokensAtOnce(config: ModelConfig): number {
  const { layers, hiddenSize, heads, kvHeads, headDim, intermediateSize } = config;
  const floats = 8 * hiddenSize + (4 * heads + 4 * kvHeads) * headDim + 5 * intermediateSize;
  return Math.max(1, Math.min(most, Math.floor(kept / (4 * layers * floats))));
}

import type { ModelConfig } from "../model/config.js";

/** What a pass may keep for its way back, in bytes. */
const kept = 3 * 2 ** 30;

/** A pass never holds more, however small the model. */
const most = 16_384;

/**
 * What a layer keeps of a token for its way back, in numbers: the norms, the projections, attention's
 * answer, the feed-forward. Found by training models of different sizes; docs/log.md has the figures.
 */
export function keptPerLayer(config: ModelConfig): number {
  const { hiddenSize, heads, kvHeads, headDim, intermediateSize } = config;
  return 6 * hiddenSize + 2 * (heads + kvHeads) * headDim + 3 * intermediateSize;
}

/**
 * How many tokens go through a model together where nobody says: as many as leave 3 GiB for what a pass
 * keeps for its way back, at most 16,384. It depends on the model's sizes alone, so that the same run has
 * the same bytes on every machine.
 */
export function tokensAtOnce(config: ModelConfig): number {
  const bytes = 4 * config.layers * keptPerLayer(config);
  return Math.max(1, Math.min(most, Math.floor(kept / bytes)));
}

import type { ModelConfigInput } from "../../../src/model/config.js";

/** Shapes of published models by name, as in their config.json on the hub; embeddings are tied in all of them. */
export const shapes: Readonly<Record<string, ModelConfigInput>> = {
  "llama3.2-1b": {
    ...{ family: "llama", vocabSize: 128_256, hiddenSize: 2048, intermediateSize: 8192 },
    ...{ layers: 16, heads: 32, kvHeads: 8, ropeTheta: 5e5 },
    ropeScaling: {
      ...{ factor: 32, lowFrequencyFactor: 1, highFrequencyFactor: 4 },
      originalContext: 8192,
    },
  },
  "qwen2.5-0.5b": {
    ...{ family: "qwen2", vocabSize: 151_936, hiddenSize: 896, intermediateSize: 4864 },
    ...{ layers: 24, heads: 14, kvHeads: 2, ropeTheta: 1e6 },
  },
  "qwen3-0.6b": {
    ...{ family: "qwen3", vocabSize: 151_936, hiddenSize: 1024, intermediateSize: 3072 },
    ...{ layers: 28, heads: 16, kvHeads: 8, headDim: 128, ropeTheta: 1e6 },
  },
  "smollm3-3b": {
    ...{ family: "smollm3", vocabSize: 128_256, hiddenSize: 2048, intermediateSize: 11_008 },
    ...{ layers: 36, heads: 16, kvHeads: 4, ropeTheta: 5e6 },
    rotated: Array.from({ length: 36 }, (_, i) => i % 4 !== 3),
  },
  "gemma3-270m": {
    ...{ family: "gemma3", vocabSize: 262_144, hiddenSize: 640, intermediateSize: 2048 },
    ...{ layers: 18, heads: 4, kvHeads: 1, headDim: 256, ropeTheta: 1e6 },
    ...{ window: 512, windowRopeTheta: 1e4 },
    windowed: Array.from({ length: 18 }, (_, i) => i % 6 !== 5),
  },
  "gemma3-1b": {
    ...{ family: "gemma3", vocabSize: 262_144, hiddenSize: 1152, intermediateSize: 6912 },
    ...{ layers: 26, heads: 4, kvHeads: 1, headDim: 256, ropeTheta: 1e6 },
    ...{ window: 512, windowRopeTheta: 1e4 },
    windowed: Array.from({ length: 26 }, (_, i) => i % 6 !== 5),
  },
};

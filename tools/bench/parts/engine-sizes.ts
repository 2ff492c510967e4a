/** The baseline's two models and batches (tools/bench/baselines/torch_baseline.py). */
export const engineSizes = {
  small: {
    model: {
      hiddenSize: 128,
      layers: 4,
      heads: 4,
      kvHeads: 2,
      intermediateSize: 384,
      vocabSize: 1024,
    },
    rows: 16,
    time: 128,
    repetitions: 15,
  },
  large: {
    model: {
      hiddenSize: 512,
      layers: 8,
      heads: 8,
      kvHeads: 4,
      intermediateSize: 1408,
      vocabSize: 4096,
    },
    rows: 4,
    time: 128,
    repetitions: 7,
  },
} as const;

export type EngineSize = keyof typeof engineSizes;

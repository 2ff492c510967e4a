import type { DecoderShape, DecoderWeights } from "../../src/model/decoder/weights.js";
import type { LinearLayers } from "../../src/model/architectures/definition.js";
import { linearWidths } from "../../src/model/transformer/weights.js";
import { Random } from "../../src/base/random/random.js";

/** A small shape; `change` says what is different. */
export function smallShape(change: Partial<DecoderShape> = {}): DecoderShape {
  const headDim = change.headDim ?? 8;
  return {
    vocabSize: 50,
    contextLength: 160,
    hidden: 20,
    layers: 2,
    heads: 4,
    kvHeads: 2,
    headDim,
    feedForward: 36,
    normEps: 1e-6,
    inverseFrequencies: Array.from(
      { length: headDim / 2 },
      (_, i) => 10000 ** ((-2 * i) / headDim),
    ),
    ...change,
  };
}

/** Random weights for a shape. */
export function randomWeights(
  shape: DecoderShape,
  options: {
    seed?: number;
    scale?: number;
    bias?: boolean;
    headNorm?: boolean;
    tied?: boolean;
    /** Biases of the other matrices, and norms of what a block found. */
    more?: boolean;
  } = {},
): DecoderWeights {
  const {
    seed = 1,
    scale = 0.3,
    bias = true,
    headNorm = false,
    tied = true,
    more = false,
  } = options;
  const { vocabSize, hidden, heads, kvHeads, headDim, feedForward } = shape;
  const random = Random.from(seed);
  const fill = (size: number, mean = 0): Float32Array =>
    Float32Array.from({ length: size }, () => mean + scale * (random.uniform() * 2 - 1) * 1.7);
  const queries = heads * headDim * (shape.gatedAttention ? 2 : 1);
  const mixing = ({ valueHeads, valueDim, taps, ...rest }: LinearLayers) => {
    const { mixed, values } = linearWidths({ valueHeads, valueDim, taps, ...rest });
    return {
      mix: fill(mixed * hidden),
      mixGate: fill(values * hidden),
      mixBeta: fill(valueHeads * hidden),
      mixDecay: fill(valueHeads * hidden),
      mixOutput: fill(hidden * values),
      taps: fill(mixed * taps),
      rate: fill(valueHeads, -1),
      rateBias: fill(valueHeads),
      answerScale: fill(valueDim, 1),
    };
  };
  return {
    embedding: fill(vocabSize * hidden),
    finalNorm: fill(hidden, 1),
    head: tied ? undefined : fill(vocabSize * hidden),
    layers: Array.from({ length: shape.layers }, (_, i) => ({
      inputNorm: fill(hidden, 1),
      postNorm: fill(hidden, 1),
      query: fill(queries * hidden),
      key: fill(kvHeads * headDim * hidden),
      value: fill(kvHeads * headDim * hidden),
      queryBias: bias ? fill(heads * headDim) : undefined,
      keyBias: bias ? fill(kvHeads * headDim) : undefined,
      valueBias: bias ? fill(kvHeads * headDim) : undefined,
      queryNorm: headNorm ? fill(headDim, 1) : undefined,
      keyNorm: headNorm ? fill(headDim, 1) : undefined,
      output: fill(hidden * heads * headDim),
      gate: fill(feedForward * hidden),
      up: fill(feedForward * hidden),
      down: fill(feedForward * hidden),
      ...(more && {
        outputBias: fill(hidden),
        gateBias: fill(feedForward),
        upBias: fill(feedForward),
        downBias: fill(hidden),
        attendedNorm: fill(hidden, 1),
        foundNorm: fill(hidden, 1),
      }),
      ...(shape.linear?.layers[i] && mixing(shape.linear)),
    })),
  };
}

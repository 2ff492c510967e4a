import { note } from "#platform/note";
import type { LinearLayers } from "../architectures/definition.js";
import type { StoredValues } from "../files/weight-file.js";
import { linearWidths } from "../transformer/weights.js";

/** What a layer does otherwise than the others. */
export interface DecoderLayerKind {
  /** How many positions it sees, its own included; all before it where it is left out. */
  window?: number | undefined;
  /** Angles per position of its own. */
  inverseFrequencies?: ArrayLike<number>;
  /** What its cosines and sines are multiplied by. Default: 1. */
  magnitude?: number;
}

/** The shape of a decoder transformer, as the decoders read it. */
export interface DecoderShape {
  vocabSize: number;
  contextLength: number;
  hidden: number;
  layers: number;
  heads: number;
  kvHeads: number;
  headDim: number;
  feedForward: number;
  normEps: number;
  /** Angle per position of each of the headDim / 2 rotary pairs, after any rope scaling. */
  inverseFrequencies: ArrayLike<number>;
  /** How many numbers of a head are turned by position, the first ones. Default: all, headDim. */
  rotaryDim?: number;
  /** What cosines and sines are multiplied by. Default: 1. */
  magnitude?: number;
  /** Each query comes with a gate beside it, for the sigmoid of which attention's answer is multiplied. */
  gatedAttention?: boolean;
  /** Layers with linear attention. */
  linear?: LinearLayers;
  /** One for each layer, where not all are alike. */
  kinds?: readonly DecoderLayerKind[];
  /** The activation of the feed-forward block. Default: SiLU. */
  activation?: "gelu_tanh" | undefined;
  /** What embeddings are multiplied by. Default: 1. */
  embeddingScale?: number;
}

/** The rotary angles of a shape's layers, each way once with what it is multiplied by, and which of them each layer has. */
export function rotaryTables(shape: DecoderShape): {
  tables: { inverseFrequencies: ArrayLike<number>; magnitude: number }[];
  of: number[];
} {
  const { inverseFrequencies, magnitude = 1, kinds = [], layers } = shape;
  const tables = [{ inverseFrequencies, magnitude }];
  const of = Array.from({ length: layers }, (_, i) => {
    const own = kinds[i]?.inverseFrequencies;
    if (own === undefined) return 0;
    const known = tables.findIndex((table) => table.inverseFrequencies === own);
    if (known >= 0) return known;
    tables.push({ inverseFrequencies: own, magnitude: kinds[i]!.magnitude ?? 1 });
    return tables.length - 1;
  });
  return { tables, of };
}

/** What a layer of linear attention has in place of query, key, value and output; plain code alone decodes it. */
export interface LinearWeights {
  /** Queries, keys and values together, before the convolution. */
  mix: Float32Array;
  /** What gates the answer. */
  mixGate: Float32Array;
  /** How much of a value is written. */
  mixBeta: Float32Array;
  /** How fast the state fades. */
  mixDecay: Float32Array;
  mixOutput: Float32Array;
  /** Of the convolution: [channels, taps]. */
  taps: Float32Array;
  /** ln of the decay's rate for each head, and what is added to `mixDecay`. */
  rate: Float32Array;
  rateBias: Float32Array;
  /** Of each head's answer. */
  answerScale: Float32Array;
}

/**
 * One layer's weights in Hugging Face layout: every matrix is [out, in], as values of type M. Without query, key, value and
 * output where the layer has linear attention, which has parts of its own.
 */
export interface DecoderLayerWeights<M = Float32Array> extends Partial<LinearWeights> {
  inputNorm: Float32Array;
  query: M;
  key: M;
  value: M;
  queryBias?: Float32Array;
  keyBias?: Float32Array;
  valueBias?: Float32Array;
  /** RMSNorm over each head's query and key (Qwen3). */
  queryNorm?: Float32Array;
  keyNorm?: Float32Array;
  output: M;
  postNorm: Float32Array;
  gate: M;
  up: M;
  down: M;
  outputBias?: Float32Array;
  gateBias?: Float32Array;
  upBias?: Float32Array;
  downBias?: Float32Array;
  /** Norms of what attention and the feed-forward block found, before it is added (Gemma 3). */
  attendedNorm?: Float32Array;
  foundNorm?: Float32Array;
}

/** A whole model's weights. */
export interface DecoderWeights<M = Float32Array> {
  embedding: M;
  layers: readonly DecoderLayerWeights<M>[];
  finalNorm: Float32Array;
  /** Absent when the output is tied to the embedding. */
  head?: M;
}

/** Gives the weights as they are at the moment of the call. */
export type WeightsSource = () => DecoderWeights;

/**
 * How a decoder keeps its matrices: as they are; rounded to bfloat16; as 8-bit integers with a scale for
 * each output; or in blocks of 32 as GGUF files have them, those of a file in Q4_0, Q4_1 and Q8_0 as they
 * are, others rounded to Q4_1 and the output matrix to Q8_0. Sums are in single precision everywhere, but
 * for `"w4a8"`, which has the same blocks as `"q4"`, and `"w8a8"`, with all matrices in Q8_0: those round
 * activations to 8 bits as well, in blocks of 32, and multiply integers. `"w16a16"` rounds weights and activations to
 * bfloat16, as transformers and vLLM do, and adds in single precision. Their places are native/src/quantized/narrow.h's.
 */
export const decoderTypes = [
  "float32",
  "bfloat16",
  "int8",
  "q4",
  "w8a8",
  "w4a8",
  "w16a16",
] as const;
export type DecoderType = (typeof decoderTypes)[number];

/** Whether the engine alone has such matrices, of widths that 32 divides. */
export function engineOnly(type: DecoderType): type is "q4" | "w8a8" | "w4a8" | "w16a16" {
  return inBlocks(type) || type === "w16a16";
}

/** Whether matrices are kept in blocks of 32. */
export function inBlocks(type: DecoderType): type is "q4" | "w8a8" | "w4a8" {
  return type === "q4" || type === "w8a8" || type === "w4a8";
}

/** How a decoder keeps the keys and values of what it has read: as they are, or rounded to float16. */
export const cacheTypes = ["float32", "float16"] as const;
export type CacheType = (typeof cacheTypes)[number];

/** Throws unless every weight is there and of the size the shape asks for. */
export function checkWeights(shape: DecoderShape, weights: DecoderWeights<StoredValues>): void {
  const { vocabSize, hidden, heads, kvHeads, headDim, feedForward } = shape;
  const { gatedAttention: gated } = shape;
  const check = (name: string, array: StoredValues | undefined, size: number): void => {
    if (array?.length !== size) {
      throw new RangeError(
        `Cannot make a decoder: ${name} must have ${size} values, got ${array?.length}`,
      );
    }
  };
  const turning = shape.rotaryDim ?? headDim;
  if (headDim % 2 !== 0 || shape.inverseFrequencies.length !== turning / 2) {
    throw new RangeError(
      `Cannot make a decoder: a head of ${headDim} needs ${turning / 2} rotary frequencies, got ${shape.inverseFrequencies.length}`,
    );
  }
  if (shape.kinds && shape.kinds.length !== shape.layers) {
    throw new RangeError(
      `Cannot make a decoder: there must be a kind for each of ${shape.layers} layers, got ${shape.kinds.length}`,
    );
  }
  if (heads % kvHeads !== 0) {
    throw new RangeError(
      `Cannot make a decoder: heads must be a multiple of kvHeads (${kvHeads}), got ${heads}`,
    );
  }
  if (weights.layers.length !== shape.layers) {
    throw new RangeError(
      `Cannot make a decoder: the shape has ${shape.layers} layers, got ${weights.layers.length}`,
    );
  }
  check("embedding", weights.embedding, vocabSize * hidden);
  check("finalNorm", weights.finalNorm, hidden);
  if (weights.head) check("head", weights.head, vocabSize * hidden);
  for (const [i, layer] of weights.layers.entries()) {
    const at = (name: string): string => `layers[${i}].${name}`;
    check(at("inputNorm"), layer.inputNorm, hidden);
    check(at("postNorm"), layer.postNorm, hidden);
    if (shape.linear?.layers[i]) {
      const { mixed, values } = linearWidths(shape.linear);
      const { valueHeads, valueDim, taps } = shape.linear;
      check(at("mix"), layer.mix, mixed * hidden);
      check(at("mixGate"), layer.mixGate, values * hidden);
      for (const name of ["mixBeta", "mixDecay"] as const) {
        check(at(name), layer[name], valueHeads * hidden);
      }
      check(at("mixOutput"), layer.mixOutput, hidden * values);
      check(at("taps"), layer.taps, mixed * taps);
      for (const name of ["rate", "rateBias"] as const) check(at(name), layer[name], valueHeads);
      check(at("answerScale"), layer.answerScale, valueDim);
    } else {
      check(at("query"), layer.query, (gated ? 2 : 1) * heads * headDim * hidden);
      check(at("key"), layer.key, kvHeads * headDim * hidden);
      check(at("value"), layer.value, kvHeads * headDim * hidden);
      check(at("output"), layer.output, heads * headDim * hidden);
    }
    if (layer.queryBias) check(at("queryBias"), layer.queryBias, heads * headDim);
    if (layer.keyBias) check(at("keyBias"), layer.keyBias, kvHeads * headDim);
    if (layer.valueBias) check(at("valueBias"), layer.valueBias, kvHeads * headDim);
    if (layer.queryNorm) check(at("queryNorm"), layer.queryNorm, headDim);
    if (layer.keyNorm) check(at("keyNorm"), layer.keyNorm, headDim);
    check(at("gate"), layer.gate, feedForward * hidden);
    check(at("up"), layer.up, feedForward * hidden);
    check(at("down"), layer.down, feedForward * hidden);
    for (const name of ["outputBias", "downBias", "attendedNorm", "foundNorm"] as const) {
      if (layer[name]) check(at(name), layer[name], hidden);
    }
    if (layer.gateBias) check(at("gateBias"), layer.gateBias, feedForward);
    if (layer.upBias) check(at("upBias"), layer.upBias, feedForward);
  }
}

/** Throws unless types are among those that there are. */
export function checkTypes(action: string, dtype: DecoderType, cache: CacheType): void {
  const refuse = (name: string, known: readonly string[], got: unknown): never => {
    throw new RangeError(
      `Cannot ${action}: ${name} must be one of ${known.join(", ")}, got ${JSON.stringify(got)}`,
    );
  };
  if (!decoderTypes.includes(dtype)) refuse("dtype", decoderTypes, dtype);
  if (!cacheTypes.includes(cache)) refuse("cache", cacheTypes, cache);
}

/** Says that keys and values stay as they are on a GPU. */
export function noteWholeCache(cache: CacheType): void {
  if (cache === "float32") return;
  note("arpo-lab: keys and values are kept in float32: a GPU's decoder does not round them");
}

/** Whether plain code alone decodes models of this shape: the engine and GPUs have none of it. */
export function plainOnly({
  linear,
  gatedAttention,
  rotaryDim,
}: Pick<DecoderShape, "linear" | "gatedAttention" | "rotaryDim">): boolean {
  return linear !== undefined || gatedAttention === true || rotaryDim !== undefined;
}

/** Says that a model decodes in plain code, and refuses to round what plain code keeps as it is. */
export function checkPlain(action: string, family: string, dtype: DecoderType): void {
  if (dtype !== "float32") {
    throw new RangeError(
      `Cannot ${action}: dtype must be float32 for this ${family} model, which decodes in plain TypeScript, got "${dtype}"`,
    );
  }
  note(
    `arpo-lab: this ${family} model decodes in plain TypeScript: the engine and GPUs have no linear attention, gated attention or partial rotary positions`,
  );
}

/** Says that a model decodes on the engine although a GPU is there. */
export function noteEngine(family: string): void {
  note(
    `arpo-lab: this ${family} model decodes on the engine: a GPU's decoder has no windows, GELU, further norms or biases, nor rotary angles that differ by layer`,
  );
}

import { decodeBackend } from "../../tensor/backends.js";
import { tf } from "../../tensor/tf.js";
import type { ModelConfig } from "../config.js";
import {
  type DecoderShape,
  type DecoderType,
  type DecoderWeights,
  engineOnly,
  plainOnly,
} from "./weights.js";
import { endNames, layerWeights, normValues } from "./weight-names.js";
import { rotaries } from "../transformer/rope.js";
import type { Model } from "../transformer/transformer.js";

/** The shape of a model as decoders read it. */
export function decoderShape(config: ModelConfig): DecoderShape {
  const { vocabSize, contextLength, layers, heads, kvHeads, headDim } = config;
  const { all, of } = rotaries(config);
  const kinds = of.map((table, i) => ({
    ...(config.windowed?.[i] && { window: config.window }),
    ...(table > 0 && {
      inverseFrequencies: all[table]!.frequencies,
      magnitude: all[table]!.magnitude,
    }),
  }));
  return {
    ...{ vocabSize, contextLength, layers, heads, kvHeads, headDim },
    hidden: config.hiddenSize,
    feedForward: config.intermediateSize,
    normEps: config.normEpsilon,
    inverseFrequencies: all[0]!.frequencies,
    ...(all[0]!.magnitude !== 1 && { magnitude: all[0]!.magnitude }),
    ...(kinds.some((kind) => Object.keys(kind).length > 0) && { kinds }),
    ...(config.activation && { activation: config.activation }),
    ...(config.rotaryDim !== undefined && { rotaryDim: config.rotaryDim }),
    ...(config.gatedAttention && { gatedAttention: true }),
    ...(config.linear && { linear: config.linear }),
    ...(config.scaledEmbedding && {
      embeddingScale: Math.fround(Math.sqrt(config.hiddenSize)),
    }),
  };
}

/** Whether a GPU's decoder has all that a model's layers do: else the engine decodes. */
export function onGpu(config: ModelConfig): boolean {
  const shape = decoderShape(config);
  const { kinds, activation, embeddingScale, magnitude } = shape;
  const { outputBias, mlpBias, foundNorms, normOffset } = config;
  const more = [kinds, activation, embeddingScale, magnitude, outputBias, mlpBias, foundNorms];
  return !plainOnly(shape) && ![...more, normOffset].some(Boolean);
}

/** Models whose decoders are in main memory although a GPU could decode. */
const aside = new WeakSet<Model>();

/**
 * Brings a model's weights to main memory where a GPU has them and decoders there will read them, since
 * they can only be waited for: where the engine decodes beside a GPU that trains, or a decoder that the
 * engine alone has (`"q4"`, `"w4a8"`, `"w8a8"`, `"w16a16"`) is wanted. Elsewhere there is nothing to do. Training does this by itself after each step.
 */
export async function fetchWeights(model: Model, dtype: DecoderType = "float32"): Promise<void> {
  if (tf.getBackend() !== "webgpu" || model.config.head !== "logits") return;
  if (engineOnly(dtype) || !onGpu(model.config)) aside.add(model);
  if (decodeBackend() === "webgpu" && !aside.has(model)) return;
  const { version } = model;
  const weights = new Map<string, Float32Array>();
  for (const [name, weight] of model.weights) {
    const acting = model.acting(name)!;
    weights.set(name, (await acting.data()) as Float32Array);
    if (acting !== weight) acting.dispose();
  }
  model.keepFetched(version, weights);
}

/**
 * A model's weights as decoders read them, as they are now. On backends that keep tensors in main
 * memory nothing is copied, but for weights that have adapters: those are given with the adapters added.
 */
export function decoderWeights(model: Model): DecoderWeights {
  const read = (name: string): Float32Array | undefined => {
    if (model.fetched) return model.fetched.get(name);
    const weight = model.weights.get(name);
    const acting = model.acting(name);
    if (acting === weight) return weight?.dataSync() as Float32Array | undefined;
    // The model's own weight is not touched; the sum is freed as soon as it is copied.
    const values = (acting!.dataSync() as Float32Array).slice();
    acting!.dispose();
    return values;
  };
  if (model.config.head !== "logits") {
    throw new TypeError('Cannot decode: the model must have head "logits", got "value"');
  }
  if (tf.getBackend() === "webgpu" && !model.fetched) {
    throw new Error(
      "Cannot read weights at once from a GPU: fetchWeights(model, dtype) must be waited for first, got none",
    );
  }
  return {
    embedding: read(endNames.embedding)!,
    finalNorm: normValues(read(endNames.finalNorm), model.config)!,
    head: read(endNames.head),
    // All read now: a model may change.
    layers: Array.from({ length: model.config.layers }, (_, i) => ({
      ...layerWeights(model.config, i, { vector: read, matrix: (name) => read(name)! }),
    })),
  };
}

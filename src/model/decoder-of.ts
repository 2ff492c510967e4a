import { tf } from "../tensor/index.js";
import type { ModelConfig } from "./config.js";
import type { DecoderShape, DecoderWeights } from "./decoder-weights.js";
import { ropeFrequencies } from "./rope.js";
import type { Model } from "./transformer.js";

/**
 * The shape of a model as decoders read it.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { decoderShape, modelConfig } from "arpo-lab/model";
 *
 * const config = modelConfig({
 *   vocabSize: 50, hiddenSize: 16, intermediateSize: 32, layers: 2, heads: 4, kvHeads: 2,
 * });
 * assert.equal(decoderShape(config).inverseFrequencies.length, 2);
 * ```
 */
export function decoderShape(config: ModelConfig): DecoderShape {
  const { vocabSize, contextLength, layers, heads, kvHeads, headDim } = config;
  return {
    ...{ vocabSize, contextLength, layers, heads, kvHeads, headDim },
    hidden: config.hiddenSize,
    feedForward: config.intermediateSize,
    normEps: config.normEpsilon,
    inverseFrequencies: ropeFrequencies(config),
  };
}

/** Weights of models on a GPU, as they were when they were last fetched. */
const fetched = new WeakMap<Model, { version: number; weights: Map<string, Float32Array> }>();

/**
 * Brings a model's weights to main memory where a GPU has them and they can only be waited for, so that
 * decoders can read them; elsewhere there is nothing to do. Training does this by itself after each step.
 *
 * @example
 * ```ts
 * import { addLora, fetchWeights, makeDecoder, Model } from "arpo-lab/model";
 *
 * const sizes = { vocabSize: 50, hiddenSize: 16, intermediateSize: 32, layers: 2, heads: 4, kvHeads: 2 };
 * const model = Model.init(sizes, 7);
 * addLora(model, { rank: 2, alpha: 4 });
 * await fetchWeights(model);
 * makeDecoder(model).dispose();
 * ```
 */
export async function fetchWeights(model: Model): Promise<void> {
  if (tf.getBackend() !== "webgpu" || model.config.head !== "logits") return;
  const { version } = model;
  const weights = new Map<string, Float32Array>();
  for (const [name, weight] of model.weights) {
    const acting = model.acting(name)!;
    weights.set(name, (await acting.data()) as Float32Array);
    if (acting !== weight) acting.dispose();
  }
  fetched.set(model, { version, weights });
}

/**
 * A model's weights as decoders read them, as they are now. On backends that keep tensors in main
 * memory nothing is copied, but for weights that have adapters: those are given with the adapters added.
 *
 * @example
 * ```ts
 * import { decoderShape, decoderWeights, Model, PlainDecoder } from "arpo-lab/model";
 *
 * const model = Model.init(
 *   { vocabSize: 50, hiddenSize: 16, intermediateSize: 32, layers: 2, heads: 4, kvHeads: 2 },
 *   7,
 * );
 * const decoder = new PlainDecoder(decoderShape(model.config), () => decoderWeights(model));
 * ```
 */
export function decoderWeights(model: Model): DecoderWeights {
  const here = fetched.get(model);
  const read = (name: string): Float32Array | undefined => {
    if (here?.version === model.version) return here.weights.get(name);
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
  return {
    embedding: read("model.embed_tokens.weight")!,
    finalNorm: read("model.norm.weight")!,
    head: read("lm_head.weight"),
    layers: Array.from({ length: model.config.layers }, (_, i) => {
      const part = (name: string) => read(`model.layers.${i}.${name}`);
      return {
        inputNorm: part("input_layernorm.weight")!,
        query: part("self_attn.q_proj.weight")!,
        key: part("self_attn.k_proj.weight")!,
        value: part("self_attn.v_proj.weight")!,
        queryBias: part("self_attn.q_proj.bias"),
        keyBias: part("self_attn.k_proj.bias"),
        valueBias: part("self_attn.v_proj.bias"),
        queryNorm: part("self_attn.q_norm.weight"),
        keyNorm: part("self_attn.k_norm.weight"),
        output: part("self_attn.o_proj.weight")!,
        postNorm: part("post_attention_layernorm.weight")!,
        gate: part("mlp.gate_proj.weight")!,
        up: part("mlp.up_proj.weight")!,
        down: part("mlp.down_proj.weight")!,
      };
    }),
  };
}

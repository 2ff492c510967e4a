import type { LinearLayers } from "../architectures/definition.js";
import type { tf } from "../../tensor/tf.js";
import type { ModelConfig } from "../config.js";

/** A layer's weights by the part of their name after `model.layers.N.`. */
export type LayerWeights = Record<string, tf.Tensor>;

/** Projects x by weights of a layer that are named, with their adapters. */
export type Project = (x: tf.Tensor, ...names: string[]) => tf.Tensor[];

/** How many numbers a position has in a layer of linear attention: its keys, its values, and both with its queries. */
export function linearWidths({ keyHeads, valueHeads, keyDim, valueDim }: LinearLayers) {
  const [keys, values] = [keyHeads * keyDim, valueHeads * valueDim];
  return { keys, values, mixed: 2 * keys + values };
}

type Add = (name: string, shape: number[]) => void;

/** The weights of attention. */
function attentionShapes(config: ModelConfig, add: Add): void {
  const { hiddenSize: d, heads, kvHeads, headDim, gatedAttention } = config;
  for (const [letter, rows] of [
    ["q", heads * headDim * (gatedAttention ? 2 : 1)],
    ["k", kvHeads * headDim],
    ["v", kvHeads * headDim],
  ] as const) {
    add(`self_attn.${letter}_proj.weight`, [rows, d]);
    if (config.qkvBias) add(`self_attn.${letter}_proj.bias`, [rows]);
    if (config.qkNorm && letter !== "v") add(`self_attn.${letter}_norm.weight`, [headDim]);
  }
  add("self_attn.o_proj.weight", [d, heads * headDim]);
  if (config.outputBias) add("self_attn.o_proj.bias", [d]);
}

/** The weights of linear attention. */
function linearShapes(linear: LinearLayers, d: number, add: Add): void {
  const { valueHeads, valueDim, taps } = linear;
  const { values, mixed } = linearWidths(linear);
  add("linear_attn.dt_bias", [valueHeads]);
  add("linear_attn.A_log", [valueHeads]);
  add("linear_attn.conv1d.weight", [mixed, 1, taps]);
  add("linear_attn.norm.weight", [valueDim]);
  add("linear_attn.out_proj.weight", [d, values]);
  add("linear_attn.in_proj_qkv.weight", [mixed, d]);
  add("linear_attn.in_proj_z.weight", [values, d]);
  add("linear_attn.in_proj_b.weight", [valueHeads, d]);
  add("linear_attn.in_proj_a.weight", [valueHeads, d]);
}

/**
 * Every weight of a model with its shape, under its Hugging Face name and in checkpoint order.
 * Matrices are `[out, in]`. Checkpoints, the transformer and the decoder all go by this list.
 */
export function weightShapes(config: ModelConfig): Map<string, number[]> {
  const { vocabSize, hiddenSize: d, intermediateSize: ff, linear } = config;
  const shapes = new Map<string, number[]>([["model.embed_tokens.weight", [vocabSize, d]]]);
  for (let i = 0; i < config.layers; i++) {
    const add: Add = (name, shape) => shapes.set(`model.layers.${i}.${name}`, shape);
    add("input_layernorm.weight", [d]);
    if (linear?.layers[i]) linearShapes(linear, d, add);
    else attentionShapes(config, add);
    add("post_attention_layernorm.weight", [d]);
    if (config.foundNorms) {
      add("pre_feedforward_layernorm.weight", [d]);
      add("post_feedforward_layernorm.weight", [d]);
    }
    for (const [name, out, input] of [
      ["gate", ff, d],
      ["up", ff, d],
      ["down", d, ff],
    ] as const) {
      add(`mlp.${name}_proj.weight`, [out, input]);
      if (config.mlpBias) add(`mlp.${name}_proj.bias`, [out]);
    }
  }
  shapes.set("model.norm.weight", [d]);
  if (config.head === "value") {
    shapes.set("score.weight", [1, d]).set("score.bias", [1]);
  } else if (!config.tied) {
    shapes.set("lm_head.weight", [vocabSize, d]);
  }
  return shapes;
}

/** How many values a shape holds. */
export function shapeSize(shape: readonly number[]): number {
  return shape.reduce((a, b) => a * b, 1);
}

/** What a model's weights may be between two steps of training. */
export const weightPrecisions = ["float32", "bfloat16"] as const;
export type WeightPrecision = (typeof weightPrecisions)[number];

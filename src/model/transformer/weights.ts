import type { ModelConfig } from "../config.js";

/**
 * Every weight of a model with its shape, under its Hugging Face name and in checkpoint order.
 * Matrices are `[out, in]`. Checkpoints, the transformer and the decoder all go by this list.
 */
export function weightShapes(config: ModelConfig): Map<string, number[]> {
  const { vocabSize, hiddenSize: d, intermediateSize: ff, heads, kvHeads, headDim } = config;
  const shapes = new Map<string, number[]>([["model.embed_tokens.weight", [vocabSize, d]]]);
  for (let i = 0; i < config.layers; i++) {
    const add = (name: string, shape: number[]) => shapes.set(`model.layers.${i}.${name}`, shape);
    add("input_layernorm.weight", [d]);
    for (const [letter, rows] of [
      ["q", heads * headDim],
      ["k", kvHeads * headDim],
      ["v", kvHeads * headDim],
    ] as const) {
      add(`self_attn.${letter}_proj.weight`, [rows, d]);
      if (config.qkvBias) add(`self_attn.${letter}_proj.bias`, [rows]);
      if (config.qkNorm && letter !== "v") add(`self_attn.${letter}_norm.weight`, [headDim]);
    }
    add("self_attn.o_proj.weight", [d, heads * headDim]);
    if (config.outputBias) add("self_attn.o_proj.bias", [d]);
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

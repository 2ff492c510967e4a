import type { DecoderLayerWeights } from "./weights.js";

/** Hugging Face's names of what stands outside the layers. */
export const endNames = {
  embedding: "model.embed_tokens.weight",
  finalNorm: "model.norm.weight",
  head: "lm_head.weight",
} as const;

/** Gives weights by their Hugging Face names. */
interface ReadWeights<M> {
  /** Undefined where the checkpoint has no such weight: biases and norms of heads may be absent. */
  vector: (name: string) => Float32Array | undefined;
  matrix: (name: string) => M;
}

/** A layer's weights by what a decoder calls them; each matrix is read when it is asked for. */
export function layerWeights<M>(
  layer: number,
  { vector, matrix }: ReadWeights<M>,
): DecoderLayerWeights<M> {
  const at = (name: string) => `model.layers.${layer}.${name}`;
  const needed = (name: string): Float32Array => vector(at(name))!; // checkWeights tells of none
  return {
    inputNorm: needed("input_layernorm.weight"),
    postNorm: needed("post_attention_layernorm.weight"),
    queryBias: vector(at("self_attn.q_proj.bias")),
    keyBias: vector(at("self_attn.k_proj.bias")),
    valueBias: vector(at("self_attn.v_proj.bias")),
    queryNorm: vector(at("self_attn.q_norm.weight")),
    keyNorm: vector(at("self_attn.k_norm.weight")),
    get query() {
      return matrix(at("self_attn.q_proj.weight"));
    },
    get key() {
      return matrix(at("self_attn.k_proj.weight"));
    },
    get value() {
      return matrix(at("self_attn.v_proj.weight"));
    },
    get output() {
      return matrix(at("self_attn.o_proj.weight"));
    },
    get gate() {
      return matrix(at("mlp.gate_proj.weight"));
    },
    get up() {
      return matrix(at("mlp.up_proj.weight"));
    },
    get down() {
      return matrix(at("mlp.down_proj.weight"));
    },
  };
}

import type { ModelConfig } from "../config.js";
import { queryScale } from "../transformer/layer.js";
import type { DecoderLayerWeights } from "./weights.js";

/** Hugging Face's names of what stands outside the layers. */
export const endNames = {
  embedding: "model.embed_tokens.weight",
  finalNorm: "model.norm.weight",
  head: "lm_head.weight",
} as const;

/** Hugging Face's name, within its layer, of each part that a decoder knows. */
const plainNames = {
  inputNorm: "input_layernorm.weight",
  query: "self_attn.q_proj.weight",
  key: "self_attn.k_proj.weight",
  value: "self_attn.v_proj.weight",
  queryBias: "self_attn.q_proj.bias",
  keyBias: "self_attn.k_proj.bias",
  valueBias: "self_attn.v_proj.bias",
  queryNorm: "self_attn.q_norm.weight",
  keyNorm: "self_attn.k_norm.weight",
  output: "self_attn.o_proj.weight",
  mix: "linear_attn.in_proj_qkv.weight",
  mixGate: "linear_attn.in_proj_z.weight",
  mixBeta: "linear_attn.in_proj_b.weight",
  mixDecay: "linear_attn.in_proj_a.weight",
  mixOutput: "linear_attn.out_proj.weight",
  taps: "linear_attn.conv1d.weight",
  rate: "linear_attn.A_log",
  rateBias: "linear_attn.dt_bias",
  answerScale: "linear_attn.norm.weight",
  outputBias: "self_attn.o_proj.bias",
  postNorm: "post_attention_layernorm.weight",
  gate: "mlp.gate_proj.weight",
  up: "mlp.up_proj.weight",
  down: "mlp.down_proj.weight",
  gateBias: "mlp.gate_proj.bias",
  upBias: "mlp.up_proj.bias",
  downBias: "mlp.down_proj.bias",
  attendedNorm: undefined as string | undefined,
  foundNorm: undefined as string | undefined,
};

type LayerPart = keyof typeof plainNames;

/** The same of a model; a part that it has not, has no name. */
export const layerNames = (config: ModelConfig): Readonly<Record<LayerPart, string | undefined>> =>
  config.foundNorms
    ? {
        ...plainNames,
        postNorm: "pre_feedforward_layernorm.weight",
        attendedNorm: "post_attention_layernorm.weight",
        foundNorm: "post_feedforward_layernorm.weight",
      }
    : plainNames;

/** Gives weights by their Hugging Face names. */
interface ReadWeights<M> {
  /** Undefined where the checkpoint has no such weight: biases and norms of heads may be absent. */
  vector: (name: string) => Float32Array | undefined;
  matrix: (name: string) => M;
}

const matrices = [
  ...["query", "key", "value", "output", "gate", "up", "down"],
  ...["mix", "mixGate", "mixBeta", "mixDecay", "mixOutput"],
];

/** What a norm multiplies by, from its weight: `normOffset` is added. */
export function normValues(
  weight: Float32Array | undefined,
  { normOffset }: ModelConfig,
  scale = 1,
): Float32Array | undefined {
  if (weight === undefined || (normOffset === undefined && scale === 1)) return weight;
  const offset = normOffset ?? 0;
  return weight.map((value) => Math.fround(value + offset) * scale);
}

/** A layer's weights by what a decoder calls them; each matrix is read when it is asked for. */
export function layerWeights<M>(
  config: ModelConfig,
  layer: number,
  { vector, matrix }: ReadWeights<M>,
): DecoderLayerWeights<M> {
  const names = layerNames(config);
  const found: Partial<Record<LayerPart, unknown>> = {};
  const others = config.linear?.layers[layer] ? "self_attn." : "linear_attn.";
  for (const part of Object.keys(names) as LayerPart[]) {
    const name = names[part];
    if (name === undefined || name.startsWith(others)) continue;
    const whole = `model.layers.${layer}.${name}`;
    if (matrices.includes(part)) {
      Object.defineProperty(found, part, { enumerable: true, get: () => matrix(whole) });
      continue;
    }
    // checkWeights tells of those that must be there and are not.
    const values = vector(whole);
    const scale = part === "queryNorm" ? queryScale(config) : 1;
    found[part] = part.endsWith("Norm") ? normValues(values, config, scale) : values;
  }
  return found as unknown as DecoderLayerWeights<M>;
}

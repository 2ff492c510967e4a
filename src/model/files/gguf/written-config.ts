import type { ModelConfig } from "../../config.js";
import type { GenerationConfig } from "../../generation-config.js";
import type { WrittenValue } from "./write-gguf.js";

const whole = (value: number): WrittenValue => ({ type: "uint32", value });
const real = (value: number): WrittenValue => ({ type: "float32", value });

/** What a GGUF file says about a model's shape and arithmetic, and how its authors would sample. */
export function writtenConfig(
  config: ModelConfig,
  generation: GenerationConfig,
): Map<string, WrittenValue> {
  const { family, headDim } = config;
  const own: Record<string, WrittenValue> = {
    block_count: whole(config.layers),
    context_length: whole(config.contextLength),
    embedding_length: whole(config.hiddenSize),
    feed_forward_length: whole(config.intermediateSize),
    "attention.head_count": whole(config.heads),
    "attention.head_count_kv": whole(config.kvHeads),
    "attention.key_length": whole(headDim),
    "attention.value_length": whole(headDim),
    "attention.layer_norm_rms_epsilon": real(config.normEpsilon),
    "rope.dimension_count": whole(headDim),
    "rope.freq_base": real(config.ropeTheta),
    vocab_size: whole(config.vocabSize),
  };
  const { temperature, topK, topP, minP, repetitionPenalty } = generation;
  const sampling = {
    temp: temperature,
    top_p: topP,
    min_p: minP,
    penalty_repeat: repetitionPenalty,
  };
  return new Map([
    ["general.architecture", { type: "string", value: family }],
    ["general.type", { type: "string", value: "model" }],
    ...Object.entries(own).map(([key, value]) => [`${family}.${key}`, value] as const),
    ...Object.entries(sampling).flatMap(([key, value]) =>
      value === undefined ? [] : [[`general.sampling.${key}`, real(value)] as const],
    ),
    ...(topK === undefined
      ? []
      : [["general.sampling.top_k", { type: "int32", value: topK }] as const]),
  ]);
}

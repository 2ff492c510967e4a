import { architectures } from "../../architectures/registry.js";
import type { ModelConfig } from "../../config.js";
import type { GenerationConfig } from "../../generation-config.js";
import { scalingKind } from "../../rope-scalings/registry.js";
import type { WrittenValue } from "./write-gguf.js";

const whole = (value: number): WrittenValue => ({ type: "uint32", value });
const real = (value: number): WrittenValue => ({ type: "float32", value });

/**
 * The keys that say what is special about a model's layers. Refuses what llama.cpp has no keys for, or does not
 * compute of this architecture.
 */
function specialKeys(config: ModelConfig): Record<string, WrittenValue> {
  const { family, ropeScaling, qkvBias, outputBias, mlpBias, activation } = config;
  const architecture = architectures.get(family)!;
  const { gguf = {}, arithmetic } = architecture;
  const refuse = (what: string): never => {
    throw new RangeError(
      `Cannot write GGUF: the model must be what llama.cpp computes of ${family}, got ${what}; save it as a Hugging Face folder`,
    );
  };
  if (gguf === false) return refuse("layers that have no form there");
  if (activation !== arithmetic?.activation) refuse(`activation ${activation ?? "silu"}`);
  const biased = (outputBias ?? mlpBias) === true || qkvBias !== architecture.qkvBias;
  if (biased && gguf.biases !== "all") refuse("biases that it does not read");
  const layers = gguf.write?.(config, config);
  const plain = [config.windowed, config.rotated, config.windowRopeTheta, config.queryScalar];
  if (gguf.write ? layers === undefined : plain.some((given) => given !== undefined)) {
    refuse(
      "windows, layers without rotary positions or a scale of attention that it has no keys for",
    );
  }
  const kind = ropeScaling && scalingKind(ropeScaling);
  const inTensor = kind?.name === "llama3";
  const scaling = ropeScaling && !inTensor ? kind!.gguf?.(ropeScaling) : {};
  if (!scaling) return refuse(`rope scaling ${kind!.name} with settings that it does not read`);
  return Object.fromEntries([
    ...Object.entries(layers ?? {}).map(([key, value]) => [
      key,
      key.startsWith("rope.") ? real(value) : whole(value),
    ]),
    ...Object.entries(scaling).map(([key, value]) => [
      `rope.scaling.${key}`,
      typeof value === "string"
        ? { type: "string", value }
        : key === "original_context_length"
          ? whole(value)
          : real(value),
    ]),
  ]) as Record<string, WrittenValue>;
}

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
    ...specialKeys(config),
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

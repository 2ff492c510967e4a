import { nearest } from "../../../common/options/nearest.js";
import { architectures, modelClasses } from "../architectures/registry.js";
import { modelConfig, type ModelConfig, type RopeScaling } from "../config.js";

type Json = Record<string, unknown>;

const refuse = (rule: string, got: unknown, hint = ""): never => {
  throw new RangeError(
    `Cannot read config.json: ${rule}, got ${JSON.stringify(got) ?? "undefined"}${hint}`,
  );
};

/** A number of config.json, or its default; without a default it must be there. */
function number(json: Json, key: string, fallback?: number): number {
  const value = json[key] ?? fallback;
  if (typeof value !== "number" || !Number.isFinite(value)) {
    return refuse(`${key} must be a number`, json[key]);
  }
  return value;
}

function flag(json: Json, key: string): boolean {
  const value = json[key] ?? false;
  return typeof value === "boolean" ? value : refuse(`${key} must be true or false`, value);
}

function ids(json: Json, key: string): number[] {
  const value = json[key] ?? [];
  const list = Array.isArray(value) ? value : [value];
  for (const id of list) {
    if (!Number.isSafeInteger(id)) refuse(`${key} must be a token id or a list of them`, id);
  }
  return list as number[];
}

/** Rotary settings: `rope_theta` and `rope_scaling`, or `rope_parameters` since transformers 5. */
function rope(json: Json, contextLength: number): { theta: number; scaling?: RopeScaling } {
  const given = (json.rope_parameters ?? json.rope_scaling ?? {}) as Json;
  const theta = number(json, "rope_theta", number(given, "rope_theta", 10_000));
  const type = given.rope_type ?? given.type ?? "default";
  if (type === "default") return { theta };
  if (type !== "llama3") refuse('rope scaling must be "default" or "llama3"', type);
  return {
    theta,
    scaling: {
      factor: number(given, "factor"),
      lowFrequencyFactor: number(given, "low_freq_factor"),
      highFrequencyFactor: number(given, "high_freq_factor"),
      originalContext: number(given, "original_max_position_embeddings", contextLength),
    },
  };
}

/**
 * Reads the contents of a Hugging Face `config.json` of an architecture that is known. What
 * would change the arithmetic and is not implemented here is refused rather than ignored.
 */
export function parseHfConfig(json: unknown): ModelConfig {
  if (json === null || typeof json !== "object" || Array.isArray(json)) {
    throw new TypeError(`Cannot read config.json: it must be an object, got ${typeof json}`);
  }
  const raw = json as Json;
  const name = (raw.architectures as string[] | undefined)?.[0];
  const classes = modelClasses();
  const known = name === undefined ? undefined : classes.get(name);
  if (!known) {
    const near = typeof name === "string" ? nearest(name, classes.keys()) : undefined;
    return refuse(
      `the architecture must be one of ${[...classes.keys()].join(", ")}`,
      name,
      near === undefined ? "" : `; did you mean "${near}"?`,
    );
  }
  const { architecture, head } = known;
  const contextLength = number(raw, "max_position_embeddings", 2048);
  const layers = number(raw, "num_hidden_layers");
  const heads = number(raw, "num_attention_heads");
  const hiddenSize = number(raw, "hidden_size");

  const activation = raw.hidden_act ?? "silu";
  if (activation !== "silu") refuse('hidden_act must be "silu"', activation);
  if (!architecture.qkvBias && flag(raw, "attention_bias")) {
    refuse(`attention_bias must be false for ${name}`, true);
  }
  if (flag(raw, "mlp_bias")) refuse("mlp_bias must be false", true);
  const window = raw.use_sliding_window === true ? (raw.sliding_window as number) : Infinity;
  const types = raw.layer_types as string[] | undefined;
  const slides =
    types?.includes("sliding_attention") ?? number(raw, "max_window_layers", 28) < layers;
  if (slides && window < contextLength) {
    refuse(`sliding_window must cover the context (${contextLength})`, window);
  }
  const labels =
    raw.num_labels ?? Object.keys((raw.id2label as object | undefined) ?? { 0: "" }).length;
  if (head === "value" && labels !== 1) refuse("a value head must have one label", labels);

  const { theta, scaling } = rope(raw, contextLength);
  return modelConfig({
    family: architecture,
    head,
    vocabSize: number(raw, "vocab_size"),
    hiddenSize,
    intermediateSize: number(raw, "intermediate_size"),
    layers,
    heads,
    kvHeads: number(raw, "num_key_value_heads", heads),
    headDim: number(raw, "head_dim", architecture.headDim ?? hiddenSize / heads),
    contextLength,
    normEpsilon: number(raw, "rms_norm_eps", 1e-6),
    ropeTheta: theta,
    ...(scaling && { ropeScaling: scaling }),
    tied: flag(raw, "tie_word_embeddings"),
    initializerRange: number(raw, "initializer_range", 0.02),
    bosId: ids(raw, "bos_token_id")[0],
    eosIds: ids(raw, "eos_token_id"),
    padId: ids(raw, "pad_token_id")[0],
  });
}

/** The `config.json` of a model, in the form every version of transformers (and vLLM) reads. */
export function formatHfConfig(
  config: ModelConfig,
  dtype: "float32" | "float16" | "bfloat16",
): Record<string, unknown> {
  const { family, head, ropeScaling: scaling } = config;
  const { classes, keys } = architectures.get(family)!;
  return {
    architectures: [classes[head]],
    model_type: family,
    vocab_size: config.vocabSize,
    hidden_size: config.hiddenSize,
    intermediate_size: config.intermediateSize,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.kvHeads,
    head_dim: config.headDim,
    hidden_act: "silu",
    max_position_embeddings: config.contextLength,
    initializer_range: config.initializerRange,
    rms_norm_eps: config.normEpsilon,
    rope_theta: config.ropeTheta,
    rope_scaling: scaling
      ? {
          rope_type: "llama3",
          factor: scaling.factor,
          low_freq_factor: scaling.lowFrequencyFactor,
          high_freq_factor: scaling.highFrequencyFactor,
          original_max_position_embeddings: scaling.originalContext,
        }
      : null,
    tie_word_embeddings: config.tied,
    attention_dropout: 0,
    ...keys,
    ...(head === "value" ? { id2label: { 0: "value" }, label2id: { value: 0 } } : {}),
    bos_token_id: config.bosId ?? null,
    eos_token_id: config.eosIds.length > 1 ? config.eosIds : (config.eosIds[0] ?? null),
    pad_token_id: config.padId ?? null,
    use_cache: true,
    torch_dtype: dtype,
  };
}

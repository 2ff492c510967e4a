import { nearest } from "../../../common/options/nearest.js";
import type { Architecture, LayerSizes } from "../architectures/definition.js";
import { architectureAround, architectures, modelClasses } from "../architectures/registry.js";
import { readWindows, writeWindows } from "../architectures/windows.js";
import { type ConfigKeys, configKeys } from "../config-keys.js";
import { modelConfig, type ModelConfig } from "../config.js";
import { ropeScalings, scalingKind } from "../rope-scalings/registry.js";

type Json = Record<string, unknown>;

/** A token id, or a list of them. */
function ids(json: Json, key: string, refuse: ConfigKeys["refuse"]): number[] {
  const value = json[key] ?? [];
  const list = Array.isArray(value) ? value : [value];
  for (const id of list) {
    if (!Number.isSafeInteger(id)) refuse(`${key} must be a token id or a list of them`, id);
  }
  return list as number[];
}

type Rope = Pick<ModelConfig, "ropeTheta" | "ropeScaling" | "windowRopeTheta">;

/**
 * Rotary settings: `rope_theta` and `rope_scaling`, or `rope_parameters` since transformers 5, which may have those
 * of layers with a window apart.
 */
function rope(
  keys: ConfigKeys,
  { ropeTheta: usual = 10_000 }: Architecture,
  sizes: LayerSizes,
): Rope {
  const none = configKeys({});
  const said = ["rope_parameters", "rope_scaling"].find((key) => keys.has(key));
  const outer = said === undefined ? none : keys.below(said);
  const given = outer.has("full_attention") ? outer.below("full_attention") : outer;
  const local = outer.has("sliding_attention") ? outer.below("sliding_attention") : none;
  const ropeTheta = keys.number("rope_theta", given.number("rope_theta", usual));
  const typeOf = (of: ConfigKeys) => ["rope_type", "type"].find((key) => of.has(key)) ?? undefined;
  const type = (of: ConfigKeys): string => {
    const key = typeOf(of);
    return key === undefined ? "default" : of.text(key);
  };
  if (type(local) !== "default") {
    keys.refuse('rope scaling of sliding_attention must be "default"', type(local));
  }
  const window = local.has("rope_theta")
    ? { windowRopeTheta: local.number("rope_theta") }
    : keys.has("rope_local_base_freq")
      ? { windowRopeTheta: keys.number("rope_local_base_freq") }
      : {};
  if (type(given) === "default") return { ropeTheta, ...window };
  const kind = ropeScalings.get(type(given));
  if (!kind) {
    return keys.refuse(
      `rope scaling must be one of default, ${ropeScalings.names.join(", ")}`,
      type(given),
    );
  }
  for (const of of [keys, given]) {
    if (of.number("partial_rotary_factor", 1) !== 1) {
      of.refuse("partial_rotary_factor must be 1", of.number("partial_rotary_factor"));
    }
  }
  return { ropeTheta, ...window, ropeScaling: kind.read(given, { ropeTheta, ...sizes }) };
}

/** The activations that are computed here, by what transformers calls them. */
const activations = { silu: undefined, gelu_pytorch_tanh: "gelu_tanh" } as const;

/**
 * Reads the contents of a Hugging Face `config.json` of an architecture that is known. What
 * would change the arithmetic and is not implemented here is refused rather than ignored.
 */
export function parseHfConfig(json: unknown): ModelConfig {
  if (json === null || typeof json !== "object" || Array.isArray(json)) {
    throw new TypeError(`Cannot read config.json: it must be an object, got ${typeof json}`);
  }
  const raw = textOf(json as Json);
  const keys = configKeys(raw);
  const { refuse, number, flag } = keys;
  const name = (raw.architectures as string[] | undefined)?.[0];
  const classes = modelClasses();
  const known = name === undefined ? undefined : classes.get(name);
  if (!known) {
    const near = typeof name === "string" ? nearest(name, classes.keys()) : undefined;
    return refuse(
      `the architecture must be one of ${[...classes.keys()].join(", ")}`,
      name,
      `${near === undefined ? "" : `; did you mean "${near}"?`}${otherLayers(raw)}`,
    );
  }
  const { architecture, head } = known;
  const layers = number("num_hidden_layers");
  const heads = number("num_attention_heads");
  const hiddenSize = number("hidden_size");
  const contextLength = number("max_position_embeddings", 2048);
  const headDim = number("head_dim", architecture.headDim ?? hiddenSize / heads);
  const sizes = { layers, contextLength, headDim };

  const { activationKey = "hidden_act", arithmetic } = architecture;
  const usual = arithmetic?.activation === undefined ? "silu" : "gelu_pytorch_tanh";
  const activation = raw[activationKey] ?? usual;
  if (typeof activation !== "string" || !Object.hasOwn(activations, activation)) {
    return refuse(
      `${activationKey} must be one of ${Object.keys(activations).join(", ")}`,
      activation,
    );
  }
  // Qwen2 has biases on queries, keys and values alone, whatever the file says.
  const attentionBias = !architecture.qkvBias && flag("attention_bias");
  const labels =
    raw.num_labels ?? Object.keys((raw.id2label as object | undefined) ?? { 0: "" }).length;
  if (head === "value" && labels !== 1) refuse("a value head must have one label", labels);

  return modelConfig({
    family: architecture,
    head,
    vocabSize: number("vocab_size"),
    hiddenSize,
    intermediateSize: number("intermediate_size"),
    layers,
    heads,
    kvHeads: number("num_key_value_heads", heads),
    headDim,
    contextLength,
    normEpsilon: number("rms_norm_eps", 1e-6),
    ...(architecture.readLayers ?? readWindows)(keys, sizes),
    ...rope(keys, architecture, sizes),
    ...(attentionBias && { qkvBias: true, outputBias: true }),
    ...(flag("mlp_bias") && { mlpBias: true }),
    activation: activations[activation as keyof typeof activations],
    tied: flag("tie_word_embeddings", architecture.tied),
    initializerRange: number("initializer_range", 0.02),
    bosId: ids(raw, "bos_token_id", refuse)[0],
    eosIds: ids(raw, "eos_token_id", refuse),
    padId: ids(raw, "pad_token_id", refuse)[0],
  });
}

/** The text's part of a model that has more around it, as a model of text alone has it. */
function textOf(json: Json): Json {
  const { around, classes } = architectureAround((json.architectures as unknown[] | undefined)?.[0]) ?? {}; // prettier-ignore
  if (!around) return json;
  const text = json[around.key];
  if (text === null || typeof text !== "object") {
    configKeys(json).refuse(`${around.key} must be an object`, text);
  }
  const tied = json.tie_word_embeddings ?? (text as Json).tie_word_embeddings;
  return { ...(text as Json), tie_word_embeddings: tied, architectures: [classes!.logits] };
}

/** What kinds of layers a model of an architecture that is not known has, where it says so. */
function otherLayers(raw: Json): string {
  const parts = [raw, raw.text_config as Json | null | undefined];
  if (parts.some((of) => of?.num_experts)) return "; experts are not computed here";
  const types = parts.flatMap((of) =>
    Array.isArray(of?.layer_types) ? (of.layer_types as unknown[]) : [],
  );
  const other = types.filter(
    (type) => typeof type === "string" && !/^(full|sliding|linear)_attention$/.test(type),
  );
  return other.length === 0 ? "" : `; layers of ${String(other[0])} are not computed here`;
}

/** The `config.json` of a model, in the form every version of transformers (and vLLM) reads. */
export function formatHfConfig(
  config: ModelConfig,
  dtype: "float32" | "float16" | "bfloat16",
): Record<string, unknown> {
  const { family, head, ropeScaling: scaling } = config;
  const architecture = architectures.get(family)!;
  const { classes, keys, activationKey = "hidden_act", writeLayers = writeWindows } = architecture;
  return {
    architectures: [classes[head]],
    model_type: architecture.modelType ?? family,
    vocab_size: config.vocabSize,
    hidden_size: config.hiddenSize,
    intermediate_size: config.intermediateSize,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.kvHeads,
    head_dim: config.headDim,
    [activationKey]: config.activation === undefined ? "silu" : "gelu_pytorch_tanh",
    max_position_embeddings: config.contextLength,
    initializer_range: config.initializerRange,
    rms_norm_eps: config.normEpsilon,
    rope_theta: config.ropeTheta,
    rope_scaling: scaling
      ? { rope_type: scaling.type ?? "llama3", ...scalingKind(scaling).write(scaling) }
      : null,
    ...(config.windowRopeTheta !== undefined && { rope_local_base_freq: config.windowRopeTheta }),
    tie_word_embeddings: config.tied,
    attention_dropout: 0,
    ...keys,
    ...writeLayers(config, config),
    ...(config.outputBias && { attention_bias: true }),
    ...(config.mlpBias && { mlp_bias: true }),
    ...(head === "value" ? { id2label: { 0: "value" }, label2id: { value: 0 } } : {}),
    bos_token_id: config.bosId ?? null,
    eos_token_id: config.eosIds.length > 1 ? config.eosIds : (config.eosIds[0] ?? null),
    pad_token_id: config.padId ?? null,
    use_cache: true,
    torch_dtype: dtype,
  };
}

import { nearest } from "../../../../common/options/nearest.js";
import { architectures } from "../../architectures/registry.js";
import { configKeys } from "../../config-keys.js";
import { type ModelConfig, modelConfig } from "../../config.js";
import type { GenerationConfig } from "../../generation-config.js";
import type { Llama3Scaling } from "../../rope-scalings/llama3.js";
import { type RopeScaling, ropeScalings } from "../../rope-scalings/registry.js";
import { ropeFrequencies } from "../../transformer/rope.js";
import type { GgufFile } from "./gguf-file.js";

/** The name of the tensor a GGUF file keeps Llama 3.1's scaling in: what each frequency is divided by. */
export const ropeFactorsName = "rope_freqs.weight";

/** What each of a head's frequencies is divided by. */
export function ropeFactors(config: ModelConfig): Float32Array {
  const scaled = ropeFrequencies(config);
  const unscaled = ropeFrequencies({ ...config, ropeScaling: undefined });
  return unscaled.map((frequency, i) => frequency / scaled[i]!);
}

const close = (a: Float32Array, b: Float32Array) =>
  a.length === b.length && a.every((value, i) => Math.abs(value / b[i]! - 1) < 1e-5);

/**
 * The scaling that gives these factors: Llama 3.1's and 3.2's settings, whatever the factor; undefined
 * where it would take other ones, which the factors alone do not tell.
 */
function scalingOf(factors: Float32Array, config: ModelConfig): Llama3Scaling | undefined {
  const scaling: Llama3Scaling = {
    factor: Math.max(...factors),
    lowFrequencyFactor: 1,
    highFrequencyFactor: 4,
    originalContext: 8192,
  };
  if (!(scaling.factor >= 1)) return undefined;
  return close(ropeFactors({ ...config, ropeScaling: scaling }), factors) ? scaling : undefined;
}

/** Keys that change the arithmetic, and the values that do not. */
const plain: readonly (readonly [key: string, harmless: (value: unknown) => boolean])[] = [
  ["expert_count", (value) => value === 0],
  ["use_parallel_residual", (value) => value === false],
  ["logit_scale", (value) => value === 0 || value === 1],
  ["embedding_scale", (value) => value === 0 || value === 1],
  ["residual_scale", (value) => value === 0 || value === 1],
  ["attn_logit_softcapping", (value) => value === 0],
  ["final_logit_softcapping", (value) => value === 0],
  ["attention.causal", (value) => value === true],
  ["attention.scale", (value) => value === 0],
  ["attention.clamp_kqv", (value) => value === 0],
  ["attention.max_alibi_bias", (value) => value === 0],
  ["rope.scaling.attn_factor", (value) => value === 0 || value === 1],
  ["rope.scaling.yarn_log_multiplier", (value) => value === 0],
];

/** The decimal number a single-precision one was rounded from: 1e-5 and not 9.999999747378752e-6. */
function decimal(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === Math.fround(value)) return short;
  }
  return value;
}

/** Reads settings by key, refusing what is not a number. */
function settings(file: GgufFile) {
  const { metadata, path } = file;
  const refuse = (rule: string, got: unknown, hint = ""): never => {
    throw new RangeError(
      `Cannot load a model from ${path}: ${rule}, got ${JSON.stringify(got) ?? "none"}${hint}`,
    );
  };
  const parts = metadata.get("split.count");
  if (typeof parts === "number" && parts > 1) {
    const part = `part ${Number(metadata.get("split.no")) + 1} of ${parts}`;
    refuse("the model must be in one file, as `llama-gguf-split --merge` makes it", part);
  }
  const family = metadata.get("general.architecture");
  const known = architectures.all.filter(({ gguf }) => gguf !== false).map(({ name }) => name);
  if (!architectures.has(family) || !known.includes(family)) {
    const near = typeof family === "string" ? nearest(family, known) : undefined;
    return refuse(
      `general.architecture must be one of ${known.sort().join(", ")}`,
      family,
      near === undefined ? "" : `; did you mean "${near}"?`,
    );
  }
  const optional = (key: string): number | undefined => {
    const value = metadata.get(key);
    if (value === undefined) return undefined;
    return typeof value === "number" ? decimal(value) : refuse(`${key} must be a number`, value);
  };
  const own = (key: string) => optional(`${family}.${key}`);
  const needed = (key: string) => own(key) ?? refuse(`${family}.${key} must be there`, undefined);
  return { family, refuse, optional, own, needed };
}

/** How a file says that rotary positions are stretched; Llama 3.1's way is in a tensor. */
function stretched(
  { metadata, path }: GgufFile,
  family: string,
  shape: { headDim: number; contextLength: number; ropeTheta: number },
): { ropeScaling?: RopeScaling } {
  const at = (key: string) => metadata.get(`${family}.rope.scaling.${key}`);
  const type = at("type") ?? "none";
  if (type === "none") return {};
  const kind = typeof type === "string" ? ropeScalings.get(type) : undefined;
  const known = ropeScalings.built.filter(({ gguf }) => gguf).map(({ name }) => name);
  if (!kind?.gguf) {
    throw new RangeError(
      `Cannot load a model from ${path}: ${family}.rope.scaling.type must be one of none, ${known.join(", ")}, got ${JSON.stringify(type)}`,
    );
  }
  const keys = configKeys({
    factor: at("factor"),
    original_max_position_embeddings: at("original_context_length"),
    beta_fast: at("yarn_beta_fast"),
    beta_slow: at("yarn_beta_slow"),
  });
  return { ropeScaling: kind.read(keys, shape) };
}

/** The tokens a file says a response ends with. */
export const endTokens = (file: GgufFile): number[] => {
  const keys = ["eos", "eot", "eom"].map((name) => `tokenizer.ggml.${name}_token_id`);
  const ids = keys.map((key) => file.metadata.get(key));
  return [...new Set(ids.filter((id) => typeof id === "number"))];
};

/** What a GGUF file says about its model. What would change the arithmetic and is not built is refused. */
export async function readGgufConfig(
  file: GgufFile,
): Promise<{ config: ModelConfig; generation: GenerationConfig }> {
  const { family, refuse, optional, own, needed } = settings(file);
  for (const [key, harmless] of plain) {
    const value = file.metadata.get(`${family}.${key}`);
    if (value !== undefined && !harmless(value)) {
      refuse(`${family}.${key} must not change what ${family} computes`, value);
    }
  }
  const embedding = file.tensors.get("token_embd.weight");
  if (!embedding) return refuse("token_embd.weight must be there", undefined);
  const heads = needed("attention.head_count");
  const hiddenSize = needed("embedding_length");
  const headDim = own("attention.key_length") ?? hiddenSize / heads;
  for (const key of ["attention.value_length", "rope.dimension_count"]) {
    if ((own(key) ?? headDim) !== headDim) {
      refuse(`${family}.${key} must be a head's ${headDim} dimensions`, own(key));
    }
  }
  const contextLength = needed("context_length");
  const architecture = architectures.get(family)!;
  const gguf = architecture.gguf || undefined;
  const window = own("attention.sliding_window");
  if (!gguf?.read && window !== undefined && window > 0 && window < contextLength) {
    refuse(`${family}.attention.sliding_window must cover the context (${contextLength})`, window);
  }
  const layers = needed("block_count");
  const ropeTheta = own("rope.freq_base") ?? architecture.ropeTheta ?? 10_000;
  const has = (name: string) => gguf?.biases === "all" && file.tensors.has(`blk.0.${name}.bias`);
  const [bosId, padId] = ["bos", "padding"].map((n) => optional(`tokenizer.ggml.${n}_token_id`));
  const eosIds = endTokens(file);
  let config = modelConfig({
    family,
    vocabSize: embedding.shape[0]!,
    hiddenSize,
    intermediateSize: needed("feed_forward_length"),
    layers,
    heads,
    kvHeads: own("attention.head_count_kv") ?? heads,
    headDim,
    contextLength,
    normEpsilon: needed("attention.layer_norm_rms_epsilon"),
    ropeTheta,
    ...stretched(file, family, { headDim, contextLength, ropeTheta }),
    ...gguf?.read?.(own, { layers, contextLength, headDim }),
    ...(has("attn_q") && { qkvBias: true }),
    ...(has("attn_output") && { outputBias: true }),
    ...(has("ffn_gate") && { mlpBias: true }),
    tied: !file.tensors.has("output.weight"),
    bosId,
    eosIds,
    padId,
  });
  if (file.tensors.has(ropeFactorsName)) {
    const ropeScaling = scalingOf(await file.read(ropeFactorsName), config);
    if (!ropeScaling) refuse(`${ropeFactorsName} must be Llama 3.1's scaling`, "another");
    config = modelConfig({ ...config, ropeScaling });
  }
  const sampling = {
    temperature: optional("general.sampling.temp"),
    topK: optional("general.sampling.top_k"),
    topP: optional("general.sampling.top_p"),
    minP: optional("general.sampling.min_p"),
    repetitionPenalty: optional("general.sampling.penalty_repeat"),
  };
  const said = Object.entries({ bosId, padId, ...sampling }).filter(([, v]) => v !== undefined);
  return { config, generation: { eosIds, ...Object.fromEntries(said) } };
}

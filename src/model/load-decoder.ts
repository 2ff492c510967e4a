import { join } from "node:path";
import { compiledEngine, ready } from "../tensor/index.js";
import type { ModelConfig } from "./config.js";
import { EngineDecoder } from "./decoder-engine.js";
import type { DecoderKernels } from "./decoder-kernels.js";
import { decoderShape } from "./decoder-of.js";
import { PlainDecoder } from "./decoder-plain.js";
import type {
  DecoderType,
  DecoderWeights,
  StoredValues,
  WeightsSource,
} from "./decoder-weights.js";
import type { Decoder } from "./decoder.js";
import { parseHfConfig } from "./hf-config.js";
import { unpackHalf } from "./half.js";
import { checkFinite, checkStored, openWeights } from "./open-weights.js";
import { readJson } from "./read-json.js";
import type { SafetensorsFile } from "./safetensors-file.js";
import { StoredTensors, type MapFile } from "./stored-tensors.js";

/** How a decoder is loaded. */
export interface LoadDecoderOptions {
  /**
   * How matrices are kept: `"bfloat16"` takes 2 bytes a weight, `"int8"` 1 with a scale for each
   * output. Default: `"float32"`, as exact as training.
   */
  dtype?: DecoderType;
  /** Whether files may be mapped into memory. Default: where the engine can. */
  map?: boolean;
}

const single = (values: StoredValues): Float32Array => {
  if (values instanceof Float32Array) return values;
  const widened = new Float32Array(values.length);
  unpackHalf(values, "bfloat16", widened);
  return widened;
};

type Read = (name: string) => StoredValues;

/** Weights by what a decoder calls them; matrices are read from their files when they are asked for. */
function storedWeights(
  tensors: StoredTensors,
  config: ModelConfig,
  read: Read,
): DecoderWeights<StoredValues> {
  const vector = (name: string): Float32Array => {
    const values = single(tensors.read(name)).slice();
    checkFinite(name, values);
    return values;
  };
  const layers = Array.from({ length: config.layers }, (_, i) => {
    const at = (name: string) => `model.layers.${i}.${name}.weight`;
    const bias = (letter: string) => {
      const name = `model.layers.${i}.self_attn.${letter}_proj.bias`;
      return tensors.has(name) ? vector(name) : undefined;
    };
    const norm = (name: string) => (tensors.has(at(name)) ? vector(at(name)) : undefined);
    return {
      inputNorm: vector(at("input_layernorm")),
      postNorm: vector(at("post_attention_layernorm")),
      ...{ queryBias: bias("q"), keyBias: bias("k"), valueBias: bias("v") },
      ...{ queryNorm: norm("self_attn.q_norm"), keyNorm: norm("self_attn.k_norm") },
      get query() {
        return read(at("self_attn.q_proj"));
      },
      get key() {
        return read(at("self_attn.k_proj"));
      },
      get value() {
        return read(at("self_attn.v_proj"));
      },
      get output() {
        return read(at("self_attn.o_proj"));
      },
      get gate() {
        return read(at("mlp.gate_proj"));
      },
      get up() {
        return read(at("mlp.up_proj"));
      },
      get down() {
        return read(at("mlp.down_proj"));
      },
    };
  });
  return {
    embedding: tensors.read("model.embed_tokens.weight"),
    layers,
    finalNorm: vector("model.norm.weight"),
    get head() {
      return read(config.tied ? "model.embed_tokens.weight" : "lm_head.weight");
    },
  };
}

/** All weights, read once. */
function inMemory(tensors: StoredTensors, config: ModelConfig, read: Read): WeightsSource {
  const weights = storedWeights(tensors, config, read);
  const kept = {
    ...weights,
    embedding: read("model.embed_tokens.weight"),
    layers: weights.layers.map((layer) => ({ ...layer })),
  } as DecoderWeights;
  return () => kept;
}

/**
 * A decoder straight from a Hugging Face folder, for models that are only read: the weights are
 * looked at one tensor at a time, mapped from their files where the engine can, and kept as `dtype`
 * says. Embeddings stay in the file. To train, or for a decoder that follows training, use
 * `loadModel`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp } from "node:fs/promises";
 * import { loadDecoder, Model, saveModel } from "arpo-lab/model";
 *
 * const folder = await mkdtemp("/tmp/arpo-");
 * const sizes = { vocabSize: 50, hiddenSize: 16, intermediateSize: 32, layers: 1, heads: 2 };
 * await saveModel(Model.init(sizes, 1), folder, { dtype: "bfloat16" });
 * const { decoder, config } = await loadDecoder(folder, { dtype: "int8" });
 * assert.equal(decoder.vocabSize, config.vocabSize);
 * decoder.dispose();
 * ```
 */
export async function loadDecoder(
  folder: string,
  options: LoadDecoderOptions = {},
): Promise<{ decoder: Decoder; config: ModelConfig }> {
  const { dtype = "float32" } = options;
  if (!["float32", "bfloat16", "int8"].includes(dtype)) {
    throw new RangeError(
      `Cannot load a model: dtype must be "float32", "bfloat16" or "int8", got ${JSON.stringify(dtype)}`,
    );
  }
  const config = parseHfConfig(await readJson(join(folder, "config.json"), "load a model"));
  if (config.head !== "logits") {
    throw new TypeError('Cannot decode: the model must have head "logits", got "value"');
  }
  await ready();
  const engine = compiledEngine();
  const files: SafetensorsFile[] = [];
  try {
    const where = await openWeights(folder, files);
    checkStored(config, where, config.head);
    const map: MapFile | undefined = options.map === false ? undefined : engine?.map;
    const tensors = new StoredTensors(where, map);
    const shape = decoderShape(config);
    const widened: Read = (name) => {
      const values = single(tensors.read(name));
      checkFinite(name, values);
      return values;
    };
    if (!engine) {
      if (dtype !== "float32") {
        process.stderr.write(
          `arpo-lab: weights are widened to float32: plain JavaScript does not decode in ${dtype}\n`,
        );
      }
      return { decoder: new PlainDecoder(shape, inMemory(tensors, config, widened)), config };
    }
    const weights = storedWeights(tensors, config, dtype === "float32" ? widened : tensors.read);
    const kernels = engine.call as unknown as DecoderKernels;
    const decoder = new EngineDecoder(kernels, shape, () => weights, dtype);
    for (const buffer of tensors.buffers) engine.forget?.(buffer);
    return { decoder, config };
  } finally {
    for (const file of files) await file.close();
  }
}

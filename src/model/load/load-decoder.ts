import { note } from "#platform/note";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, oneOf, type OptionRules } from "../../../common/options/check-options.js";
import { decodeBackend, ready } from "../../tensor/backends.js";
import { heldDevice } from "../../tensor/gpu/device.js";
import { compiledEngine } from "../../tensor/engine/compiled-engine.js";
import { chooseDecoder } from "../choose/choose-backend.js";
import type { ModelConfig } from "../config.js";
import {
  type CacheType,
  cacheTypes,
  checkPlain,
  checkTypes,
  type DecoderType,
  decoderTypes,
  type DecoderWeights,
  engineOnly,
  noteEngine,
  noteWholeCache,
  plainOnly,
  type WeightsSource,
} from "../decoder/weights.js";
import { EngineDecoder } from "../decoder/engine.js";
import { engineProducts } from "../decoder/engine-products.js";
import { GpuDecoder } from "../decoder/gpu/gpu-decoder.js";
import { uploaded } from "../decoder/gpu/weight-source.js";
import { decoderShape, onGpu } from "../decoder/of-model.js";
import { PlainDecoder } from "../decoder/plain.js";
import { endNames, layerWeights, normValues } from "../decoder/weight-names.js";
import {
  type MapFile,
  StoredTensors,
  type StoredValues,
  type WeightFile,
  wholeValues,
} from "../files/weight-file.js";
import type { Decoder } from "../decoder/decoder.js";
import { checkSealed } from "../files/sealed.js";
import { openModel } from "../files/open-model.js";
import { checkFinite, checkStored } from "../files/open-weights.js";

/** How a decoder is loaded. */
export interface LoadDecoderOptions {
  /**
   * How matrices are kept: `"bfloat16"` takes 2 bytes a weight, `"int8"` 1 with a scale for each
   * output, `"q4"` 0.6 in blocks of 32: those of a GGUF file in Q4_0, Q4_1 and Q8_0 as they lie there,
   * others rounded; `"w4a8"` and `"w8a8"` have blocks of 4 and of 8 bits and round activations too, which is
   * the fastest and the least exact; `"w16a16"` rounds weights and activations to bfloat16. Default: `"float32"`, as exact as training.
   */
  dtype?: DecoderType;
  /** How keys and values are kept: `"float16"` takes half the memory. Default: `"float32"`. */
  cache?: CacheType;
  /** Whether files may be mapped into memory. Default: where the engine can. */
  map?: boolean;
}

const rules: OptionRules<LoadDecoderOptions> = {
  dtype: oneOf(decoderTypes),
  cache: oneOf(cacheTypes),
  map: "boolean?",
};

type Read = (name: string) => StoredValues;

/** Weights by what a decoder calls them; matrices are read from their files when they are asked for. */
function storedWeights(
  tensors: StoredTensors,
  config: ModelConfig,
  read: Read,
): DecoderWeights<StoredValues> {
  const vector = (name: string): Float32Array | undefined => {
    if (!tensors.has(name)) return undefined;
    const values = wholeValues(tensors.read(name)).slice();
    checkFinite(name, values);
    return values;
  };
  return {
    embedding: tensors.read(endNames.embedding),
    layers: Array.from({ length: config.layers }, (_, i) =>
      layerWeights(config, i, { vector, matrix: read }),
    ),
    finalNorm: normValues(vector(endNames.finalNorm), config)!,
    get head() {
      return read(config.tied ? endNames.embedding : endNames.head);
    },
  };
}

/** Values as they lie there, refused where they are not numbers: for who cannot see that by itself. */
function checked(tensors: StoredTensors): Read {
  return (name) => {
    const stored = tensors.read(name);
    const values = stored instanceof Uint16Array ? stored : wholeValues(stored);
    checkFinite(name, values);
    return values;
  };
}

/**
 * Matrices in single precision, for a decoder that copies each layer: all layers' are widened into the same arrays, which
 * `free` gives back at once. Left to the garbage collector they are a quarter of a small model's memory for long.
 */
class Widening {
  readonly #tensors: StoredTensors;
  readonly #arrays = new Map<string, Float32Array<ArrayBuffer>>();

  constructor(tensors: StoredTensors) {
    this.#tensors = tensors;
  }

  readonly read: Read = (name) => {
    const stored = this.#tensors.read(name);
    const place = `${name.replace(/\d+/, "")} ${stored.length}`;
    let to = this.#arrays.get(place);
    if (!to && !(stored instanceof Float32Array)) {
      to = new Float32Array(stored.length);
      this.#arrays.set(place, to);
    }
    const values = wholeValues(stored, 0, stored.length, to);
    checkFinite(name, values);
    return values;
  };

  free(): void {
    const { port1, port2 } = new MessageChannel();
    // What a closed port was given is freed.
    port1.postMessage(
      null,
      [...this.#arrays.values()].map(({ buffer }) => buffer),
    );
    port1.close();
    port2.close();
    this.#arrays.clear();
  }
}

/** All weights, read once. */
function inMemory(tensors: StoredTensors, config: ModelConfig, read: Read): WeightsSource {
  const weights = storedWeights(tensors, config, read);
  const kept = {
    ...weights,
    embedding: read(endNames.embedding),
    layers: weights.layers.map((layer) => ({ ...layer })),
  } as DecoderWeights;
  return () => kept;
}

/**
 * A decoder straight from a Hugging Face folder or a `.gguf` file, for models that are only read: the weights are
 * looked at one tensor at a time, mapped from their files where the engine can, and kept as `dtype`
 * says: by the engine, whose embeddings stay in the file, or on a GPU where that is the faster one. To train, or for a decoder that follows training, use
 * `loadModel`.
 */
export async function loadDecoder(
  folder: string,
  options: LoadDecoderOptions = {},
): Promise<{ decoder: Decoder; config: ModelConfig }> {
  checkArguments("load a model", { folder }, { folder: "path" });
  checkOptions("load a model", options, rules);
  const { dtype = "float32", cache = "float32" } = options;
  checkTypes("load a model", dtype, cache);
  await checkSealed(folder, "load a model");
  await ready();
  const engine = compiledEngine();
  const files: WeightFile[] = [];
  try {
    const { config, where } = await openModel(folder, files);
    if (config.head !== "logits") {
      throw new TypeError('Cannot decode: the model must have head "logits", got "value"');
    }
    checkStored(config, where, config.head);
    const shape = decoderShape(config);
    const plain = plainOnly(shape);
    if (plain) checkPlain("load a model", config.family, dtype);
    const map: MapFile | undefined = options.map === false || plain ? undefined : engine?.map;
    const tensors = new StoredTensors(where, map);
    // Blocks are the engine's alone.
    const gpuToo = !engineOnly(dtype) && onGpu(config);
    if (gpuToo) await chooseDecoder(config, dtype);
    const device = decodeBackend() === "webgpu" ? heldDevice() : undefined;
    if (device && !gpuToo && !plain && !engineOnly(dtype)) noteEngine(config.family);
    if (device && gpuToo) {
      noteWholeCache(cache);
      const read = checked(tensors);
      const weights = storedWeights(tensors, config, read);
      read(endNames.embedding);
      const source = () => uploaded(device, weights, config.tied);
      const decoder = new GpuDecoder(device, shape, source, dtype);
      for (const buffer of tensors.buffers) engine?.forget?.(buffer);
      return { decoder, config };
    }
    if (!engine || plain) {
      if (dtype !== "float32") {
        note(
          `arpo-lab: weights are widened to float32: plain JavaScript does not decode in ${dtype}`,
        );
      }
      const whole: Read = (name) => new Widening(tensors).read(name);
      const products = plain ? engineProducts() : undefined;
      const decoder = new PlainDecoder(shape, inMemory(tensors, config, whole), cache, products);
      return { decoder, config };
    }
    const widening = new Widening(tensors);
    const read = dtype === "float32" ? widening.read : tensors.read;
    const weights = storedWeights(tensors, config, read);
    const decoder = new EngineDecoder(engine.call, shape, () => weights, dtype, cache);
    widening.free();
    for (const buffer of tensors.buffers) engine.forget?.(buffer);
    return { decoder, config };
  } finally {
    for (const file of files) await file.close();
  }
}

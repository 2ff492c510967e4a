import { decodeBackend } from "../../tensor/backends.js";
import { compiledEngine } from "../../tensor/engine/compiled-engine.js";
import { heldDevice } from "../../tensor/gpu/device.js";
import type { GpuBackend } from "../../tensor/gpu/gpu-backend.js";
import { tf } from "../../tensor/tf.js";
import type { Model } from "../transformer/transformer.js";
import {
  type CacheType,
  checkPlain,
  checkTypes,
  type DecoderType,
  engineOnly,
  noteEngine,
  noteWholeCache,
  plainOnly,
} from "./weights.js";
import type { Decoder } from "./decoder.js";
import { EngineDecoder } from "./engine.js";
import { engineProducts } from "./engine-products.js";
import { GpuDecoder } from "./gpu/gpu-decoder.js";
import { type GpuWeightSource, uploaded, type WeightPart } from "./gpu/weight-source.js";
import { decoderShape, decoderWeights, onGpu } from "./of-model.js";
import { PlainDecoder } from "./plain.js";
import { endNames, layerNames } from "./weight-names.js";

/** The GPU backend where tensors are on this device. */
function tensorsOn(device: GPUDevice): GpuBackend | undefined {
  if (tf.getBackend() !== "webgpu") return undefined;
  const backend = tf.backend() as unknown as GpuBackend;
  return backend.device === device ? backend : undefined;
}

/**
 * A model's weights as they are now, with adapters added: copied on the card where training has them
 * there, else uploaded.
 */
function modelWeights(device: GPUDevice, model: Model): GpuWeightSource {
  const backend = tensorsOn(device);
  if (!backend) return uploaded(device, decoderWeights(model));
  const names: Partial<Record<WeightPart, string | undefined>> = layerNames(model.config);
  return {
    tied: model.config.tied,
    put(part, layer, to, offset) {
      const inside = names[part];
      const name =
        inside === undefined
          ? endNames[part as keyof typeof endNames]
          : `model.layers.${layer}.${inside}`;
      const acting = model.acting(name);
      if (!acting) return false;
      const { buffer, offset: at = 0 } = backend.at(acting);
      backend.copy(buffer, at, to, offset, 4 * acting.size);
      if (acting !== model.weights.get(name)) acting.dispose();
      return true;
    },
    run: (dispatch) => backend.run(dispatch),
    done() {
      if (backend.commandEncoder) backend.submitQueue();
    },
  };
}

/** Whether a decoder of that type has the model's weights as they are. */
function keptAs(model: Model, dtype: DecoderType): boolean {
  return dtype === "bfloat16" && model.weightPrecision === "bfloat16" && !model.lora;
}

/**
 * The fastest decoder there is here for a model: the compiled engine's, the GPU's where that was measured
 * to be faster or asked for, or plain code where that was (`ARPO_LAB_BACKEND=cpu`). It holds the weights as they are now; after training, `refresh`.
 * With a `dtype` the decoder's copy is rounded: it takes a half or a quarter of the memory and is not
 * quite the model any more (`"q4"`, `"w4a8"`, `"w8a8"` and `"w16a16"` are the engine's alone); so it is with a `cache` of `"float16"`, whose keys and
 * values take half. Plain code keeps the weights as they are, and rounds keys and values without taking less.
 */
export function makeDecoder(
  model: Model,
  options: { dtype?: DecoderType; cache?: CacheType } = {},
): Decoder {
  const { dtype = "float32", cache = "float32" } = options;
  checkTypes("make a decoder", dtype, cache);
  const device = decodeBackend() === "webgpu" ? heldDevice() : undefined;
  const shape = decoderShape(model.config);
  const engine = compiledEngine();
  const source = () => decoderWeights(model);
  if (plainOnly(shape)) {
    checkPlain("make a decoder", model.config.family, dtype);
    return new PlainDecoder(shape, source, cache, engineProducts());
  }
  const gpuToo = !engineOnly(dtype) && onGpu(model.config);
  if (device && !gpuToo && !engineOnly(dtype)) noteEngine(model.config.family);
  if (!device || !gpuToo) {
    if (!engine) return new PlainDecoder(shape, source, cache);
    const decoder = new EngineDecoder(engine.call, shape, source, dtype, cache);
    if (keptAs(model, dtype) && cache === "float32") delete decoder.rounded;
    return decoder;
  }
  noteWholeCache(cache);
  const decoder = new GpuDecoder(device, shape, () => modelWeights(device, model), dtype);
  if (keptAs(model, dtype)) delete decoder.rounded;
  return decoder;
}

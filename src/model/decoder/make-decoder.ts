import { decodeBackend } from "../../tensor/decode-backend.js";
import { heldDevice } from "../../tensor/gpu/device.js";
import { compiledEngine } from "../../tensor/engine/compiled-engine.js";
import { checkTypes, noteWholeCache } from "./check-types.js";
import { EngineDecoder } from "./engine.js";
import { GpuDecoder } from "./gpu/gpu-decoder.js";
import { modelWeights } from "./gpu/model-weights.js";
import { decoderShape, decoderWeights } from "./of-model.js";
import { PlainDecoder } from "./plain.js";
import { inBlocks, type CacheType, type DecoderType } from "./weights.js";
import type { Decoder } from "./decoder.js";
import type { Model } from "../transformer/transformer.js";

/** Whether a decoder of that type has the model's weights as they are. */
function keptAs(model: Model, dtype: DecoderType): boolean {
  return dtype === "bfloat16" && model.weightPrecision === "bfloat16" && !model.lora;
}

/**
 * The fastest decoder there is here for a model: the compiled engine's, the GPU's where that was measured
 * to be faster or asked for, or plain code where that was (`ARPO_LAB_BACKEND=cpu`). It holds the weights as they are now; after training, `refresh`.
 * With a `dtype` the decoder's copy is rounded: it takes a half or a quarter of the memory and is not
 * quite the model any more (`"q4"`, `"w4a8"` and `"w8a8"` are the engine's alone); so it is with a `cache` of `"float16"`, whose keys and
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
  if (!device || inBlocks(dtype)) {
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

/** Files of weights and trees, and the decoders under a policy. Experimental: may change in any release. */

// Weights
export { modelConfig } from "../../model/config.js";
export { saveRandomModel } from "../../model/files/save-model.js";
export { saveGguf } from "../../model/export/save-gguf.js";
export type { GgufOptions, GgufWeightType } from "../../model/export/save-gguf.js";
export { GgufFile } from "../../model/files/gguf/gguf-file.js";
export type { GgufTensor } from "../../model/files/gguf/header.js";
export type { GgufMetadata, GgufValue } from "../../model/files/gguf/header.js";
export { SafetensorsFile } from "../../model/files/safetensors-file.js";
export { writeSafetensors, type TensorSource } from "../../model/files/write-safetensors.js";
export { quantize, type PackedType } from "../../model/files/gguf/quantize.js";
export { dequantize } from "../../model/files/gguf/dequantize.js";
export { setWeightPrecision } from "../../model/precision/set-weight-precision.js";
export type { WeightPrecision } from "../../model/transformer/weights.js";
export { unmergeLora } from "../../model/lora/merge-lora.js";
export { trainBpe, type TrainBpeOptions } from "../../model/tokenizer/train-bpe.js";
export { parseHfConfig, formatHfConfig } from "../../model/files/hf-config.js";
export {
  parseGenerationConfig,
  formatGenerationConfig,
  type GenerationConfig,
} from "../../model/generation-config.js";
export { modelFingerprint } from "../../model/files/model-fingerprint.js";
export { ChatTemplate, chatMl } from "../../model/tokenizer/chat-template.js";

// Trees
export { treesToJsonl, treesFromJsonl } from "../../rollout/files/tree-jsonl.js";
export { treesToParquet, treesFromParquet } from "../../rollout/files/tree-parquet.js";

// Decoders, and a policy on any of them
export { LocalPolicy, type LocalPolicyOptions } from "../../policy/local-policy.js";
export type { Decoder, Sampled, StepSampling } from "../../model/decoder/decoder.js";
export type {
  DecoderShape,
  DecoderWeights,
  DecoderLayerWeights,
  DecoderType,
  CacheType,
  WeightsSource,
} from "../../model/decoder/weights.js";
export { makeDecoder } from "../../model/decoder/make-decoder.js";
export { loadDecoder, type LoadDecoderOptions } from "../../model/load/load-decoder.js";
export { decoderWeights } from "../../model/decoder/of-model.js";
export { PlainDecoder } from "../../model/decoder/plain.js";
export { EngineDecoder } from "../../model/decoder/engine.js";
export { GpuDecoder } from "../../model/decoder/gpu/gpu-decoder.js";
export { type SampledToken, type SampleSettings, sample } from "../../model/decoder/sample.js";

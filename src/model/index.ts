export type { ModelConfig, ModelConfigInput, RopeScaling } from "./config.js";
export { recompute } from "./transformer/recompute.js";
export { modelConfig } from "./config.js";
export {
  formatGenerationConfig,
  parseGenerationConfig,
  type GenerationConfig,
} from "./generation-config.js";
export { packHalf, unpackHalf, type WeightType } from "./files/half.js";
export { ChatTemplate, chatMl } from "./tokenizer/chat-template.js";
export { formatHfConfig, parseHfConfig } from "./files/hf-config.js";
export { encodeStart } from "./tokenizer/encode-start.js";
export { HfTokenizer } from "./tokenizer/hf-tokenizer.js";
export type { TokenizerFiles } from "./tokenizer/tokenizer-files.js";
export { loadModel, type LoadModelOptions } from "./load/load-model.js";
export { modelFolder, modelName } from "./files/model-folder.js";
export { ropeFrequencies, rotaryTable, type RotaryTable } from "./transformer/rope.js";
export { decoderLayer } from "./transformer/layer.js";
export type { LayerWeights } from "./transformer/layer-parts.js";
export type { PaddedBatch, TokenBatch, Sharing } from "./transformer/token-batch.js";
export { quantize, type PackedType } from "./files/gguf/quantize.js";
export { dequantize } from "./files/gguf/dequantize.js";
export { GgufFile } from "./files/gguf/gguf-file.js";
export type { GgufTensor } from "./files/gguf/header.js";
export type { GgufMetadata, GgufValue } from "./files/gguf/metadata.js";
export { SafetensorsFile } from "./files/safetensors-file.js";
export { saveGguf } from "./export/save-gguf.js";
export type { GgufOptions, GgufWeightType } from "./export/write-model-gguf.js";
export { saveModel } from "./files/save-model.js";
export { saveRandomModel } from "./files/save-random-model.js";
export { stageFile, type StagedFile } from "./files/staged-file.js";
export { writeFault } from "./files/write-fault.js";
export type { ChatMessage, ChatOptions, Tokenizer } from "./tokenizer/tokenizer.js";
export { trainBpe, type TrainBpeOptions } from "./tokenizer/train-bpe.js";
export { setWeightPrecision } from "./precision/set-weight-precision.js";
export { Model, type ForwardOptions } from "./transformer/transformer.js";
export { weightShapes, type WeightPrecision } from "./transformer/weights.js";
export { writeWeights, type SaveModelOptions } from "./files/write-weights.js";
export { writeSafetensors, type TensorSource } from "./files/write-safetensors.js";
export type { Decoder, Sampled, StepSampling } from "./decoder/decoder.js";
export { PlainDecoder } from "./decoder/plain.js";
export type {
  DecoderLayerWeights,
  DecoderShape,
  CacheType,
  DecoderType,
  DecoderWeights,
  WeightsSource,
} from "./decoder/weights.js";
export { sample } from "./decoder/sample.js";
export type { SampledToken, SampleSettings } from "./decoder/sample.js";
export { decoderShape, decoderWeights, fetchWeights } from "./decoder/of-model.js";
export { EngineDecoder } from "./decoder/engine.js";
export { GpuDecoder } from "./decoder/gpu/gpu-decoder.js";
export { uploaded, type GpuWeightSource, type WeightPart } from "./decoder/gpu/weight-source.js";
export { makeDecoder } from "./decoder/make-decoder.js";
export { shareRows, type SharedRows } from "./transformer/sharing.js";
export { modelFingerprint } from "./files/model-fingerprint.js";
export { loadDecoder, type LoadDecoderOptions } from "./load/load-decoder.js";
export { addLora } from "./lora/add-lora.js";
export { Lora, type LoraOptions } from "./transformer/lora.js";
export { mergeLora } from "./lora/merge-lora.js";
export { unmergeLora } from "./lora/unmerge-lora.js";
export { saveAdapter } from "./lora/save-adapter.js";
export { loadAdapter } from "./lora/load-adapter.js";
export type { StoredValues } from "./files/weight-file.js";

export type { ModelConfig, ModelConfigInput, RopeScaling } from "./config.js";
export { checkpoint } from "./checkpoint.js";
export { modelConfig } from "./config.js";
export {
  formatGenerationConfig,
  parseGenerationConfig,
  type GenerationConfig,
} from "./generation-config.js";
export { packHalf, unpackHalf, type WeightType } from "./half.js";
export { ChatTemplate, chatMl } from "./chat-template.js";
export { formatHfConfig, parseHfConfig } from "./hf-config.js";
export { HfTokenizer, type TokenizerFiles } from "./hf-tokenizer.js";
export { loadModel, type LoadModelOptions } from "./load-model.js";
export { modelFolder } from "./model-folder.js";
export { ropeFrequencies, rotaryTable, type RotaryTable } from "./rope.js";
export { decoderLayer, type LayerWeights } from "./decoder-layer.js";
export type { PaddedBatch, TokenBatch } from "./token-batch.js";
export { SafetensorsFile } from "./safetensors-file.js";
export { saveModel } from "./save-model.js";
export { saveRandomModel } from "./save-random-model.js";
export { stageFile, type StagedFile } from "./staged-file.js";
export { writeFault } from "./write-fault.js";
export type { ChatMessage, ChatOptions, Tokenizer } from "./tokenizer.js";
export { trainBpe, type TrainBpeOptions } from "./train-bpe.js";
export { Model, type ForwardOptions } from "./transformer.js";
export { weightShapes } from "./weights.js";
export { writeWeights, type SaveModelOptions } from "./write-weights.js";
export { writeSafetensors, type TensorSource } from "./write-safetensors.js";
export type { Decoder, Sampled, StepSampling } from "./decoder.js";
export { PlainDecoder } from "./decoder-plain.js";
export type {
  DecoderLayerWeights,
  DecoderShape,
  DecoderType,
  DecoderWeights,
  StoredValues,
  WeightsSource,
} from "./decoder-weights.js";
export { sample } from "./sample.js";
export type { SampledToken, SampleSettings } from "./sample.js";
export { decoderShape, decoderWeights, fetchWeights } from "./decoder-of.js";
export { EngineDecoder } from "./decoder-engine.js";
export type { DecoderKernels } from "./decoder-kernels.js";
export { makeDecoder } from "./make-decoder.js";
export { shareRows, type SharedRows, type Sharing } from "./sharing.js";
export { modelFingerprint } from "./model-fingerprint.js";
export { loadDecoder, type LoadDecoderOptions } from "./load-decoder.js";
export { addLora } from "./add-lora.js";
export { Lora, type LoraOptions } from "./lora.js";
export { mergeLora } from "./merge-lora.js";
export { unmergeLora } from "./unmerge-lora.js";
export { saveAdapter } from "./save-adapter.js";
export { loadAdapter } from "./load-adapter.js";

/** Models, tokenizers and adapters; tensors (`tf`), gradients and the optimizer. */

// Tensors and gradients
export { tf } from "../tensor/tf.js";
export { ready } from "../tensor/backends.js";
export { gradientsOf, type Gradients } from "../tensor/gradients.js";
export { AdamW, type AdamWOptions } from "../tensor/adamw.js";
export { detached } from "../tensor/detached.js";

// Models
export { Model } from "../model/transformer/transformer.js";
export type { ModelConfig } from "../model/config.js";
export type { TokenBatch } from "../model/transformer/token-batch.js";
export { loadModel, type LoadModelOptions } from "../model/load/load-model.js";
export { saveModel } from "../model/files/save-model.js";
export type { SaveModelOptions } from "../model/files/write-weights.js";

// Tokenizers
export { HfTokenizer } from "../model/tokenizer/hf-tokenizer.js";
export type { Tokenizer, ChatMessage } from "../model/tokenizer/tokenizer.js";

// Adapters
export { addLora } from "../model/lora/add-lora.js";
export { Lora, type LoraOptions } from "../model/transformer/lora.js";
export { mergeLora } from "../model/lora/merge-lora.js";
export { saveAdapter } from "../model/lora/save-adapter.js";
export { loadAdapter } from "../model/lora/load-adapter.js";

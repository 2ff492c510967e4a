export type { ModelConfig, ModelConfigInput, RopeScaling } from "./config.js";
export { modelConfig } from "./config.js";
export { formatHfConfig, parseHfConfig } from "./hf-config.js";
export { ropeFrequencies } from "./rope.js";
export type { ChatMessage, Tokenizer } from "./tokenizer.js";
export { weightShapes } from "./weights.js";

import { defineArchitecture } from "./definition.js";

export const qwen3 = defineArchitecture({
  name: "qwen3",
  words: "Qwen3",
  classes: { logits: "Qwen3ForCausalLM", value: "Qwen3ForTokenClassification" },
  qkvBias: false,
  qkNorm: true,
  headDim: 128,
  keys: { attention_bias: false, use_sliding_window: false, sliding_window: null },
  pairsRows: false,
  gguf: { biases: "none" },
});

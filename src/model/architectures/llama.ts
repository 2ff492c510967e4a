import { defineArchitecture } from "./definition.js";

export const llama = defineArchitecture({
  name: "llama",
  words: "Llama 3 and 3.1, SmolLM2",
  classes: { logits: "LlamaForCausalLM", value: "LlamaForTokenClassification" },
  qkvBias: false,
  qkNorm: false,
  keys: { attention_bias: false, mlp_bias: false },
  readLayers: () => ({}),
  pairsRows: true,
  gguf: { biases: "all" },
});

import { defineArchitecture } from "./definition.js";

export const qwen2 = defineArchitecture({
  name: "qwen2",
  words: "Qwen2 and Qwen2.5",
  classes: { logits: "Qwen2ForCausalLM", value: "Qwen2ForTokenClassification" },
  qkvBias: true,
  qkNorm: false,
  keys: { use_sliding_window: false, sliding_window: null },
  pairsRows: false,
});

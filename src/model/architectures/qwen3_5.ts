import { defineArchitecture } from "./definition.js";

/** Every fourth layer has attention, the others linear attention, where a file does not say which. */
const STEP = 4;
/** The share of a head that positions turn, where a file does not say it. */
const SHARE = 0.25;
const kinds = ["full_attention", "linear_attention"];
/** The keys of the sizes of linear attention, with transformers' defaults. */
const sizes = {
  keyHeads: ["linear_num_key_heads", 16],
  valueHeads: ["linear_num_value_heads", 32],
  keyDim: ["linear_key_head_dim", 128],
  valueDim: ["linear_value_head_dim", 128],
  taps: ["linear_conv_kernel_dim", 4],
} as const;

export const qwen3_5 = defineArchitecture({
  name: "qwen3_5",
  modelType: "qwen3_5_text",
  words: "Qwen3.5, text alone, without experts",
  classes: { logits: "Qwen3_5ForCausalLM", value: "Qwen3_5ForTokenClassification" },
  around: {
    class: "Qwen3_5ForConditionalGeneration",
    key: "text_config",
    prefix: "model.language_model.",
  },
  leftOut: /^(mtp|model\.visual)\./,
  qkvBias: false,
  qkNorm: true,
  arithmetic: { normOffset: 1, gatedAttention: true },
  headDim: 256,
  keys: { attention_bias: false },
  readLayers(keys, { layers, headDim }) {
    if (keys.flag("attention_bias")) keys.refuse("attention_bias must be false", true);
    if (!keys.flag("attn_output_gate", true)) keys.refuse("attn_output_gate must be true", false);
    if (keys.has("hidden_act") && keys.text("hidden_act") !== "silu") {
      keys.refuse("hidden_act must be silu", keys.text("hidden_act"));
    }
    const step = keys.number("full_attention_interval", STEP);
    const types = keys.has("layer_types")
      ? keys.texts("layer_types")
      : Array.from({ length: layers }, (_, i) => kinds[Number((i + 1) % step !== 0)]!);
    const other = types.findIndex((type) => !kinds.includes(type));
    if (other >= 0) {
      keys.refuse(`layer_types must be among ${kinds.join(", ")}`, types[other], ` (layer ${other})`); // prettier-ignore
    }
    const rope = keys.has("rope_parameters") ? keys.below("rope_parameters") : keys;
    const share = rope.number("partial_rotary_factor", keys.number("partial_rotary_factor", SHARE));
    const rotaryDim = Math.floor(headDim * share);
    const numbers = Object.entries(sizes).map(([name, [key, usual]]) => [name, keys.number(key, usual)]); // prettier-ignore
    return {
      ...(rotaryDim !== headDim && { rotaryDim }),
      ...(types.includes("linear_attention") && {
        linear: {
          layers: types.map((type) => type === "linear_attention"),
          ...(Object.fromEntries(numbers) as Record<keyof typeof sizes, number>),
        },
      }),
    };
  },
  writeLayers: ({ linear, rotaryDim }, { layers, headDim }) => ({
    layer_types: Array.from(
      { length: layers },
      (_, i) => kinds[Number(linear?.layers[i] ?? false)],
    ),
    partial_rotary_factor: (rotaryDim ?? headDim) / headDim,
    attn_output_gate: true,
    ...Object.fromEntries(
      Object.entries(sizes).flatMap(([name, [key]]) =>
        linear ? [[key, linear[name as keyof typeof sizes]]] : [],
      ),
    ),
  }),
  pairsRows: false,
  gguf: false,
});

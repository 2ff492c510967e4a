import { defineArchitecture } from "./definition.js";
import { windowedByType, writeWindows } from "./windows.js";

/** Of so many layers the last sees everything, the others have the window, where a file does not say which. */
const PATTERN = 6;
const THETA = { all: 1_000_000, window: 10_000 };
const locals = (layers: number, pattern: number) =>
  Array.from({ length: layers }, (_, i) => (i + 1) % pattern !== 0);

export const gemma3 = defineArchitecture({
  name: "gemma3",
  modelType: "gemma3_text",
  words: "Gemma 3, text alone: 270M and 1B",
  // transformers has no Gemma 3 that gives a value for each token: such a critic is read here alone.
  classes: { logits: "Gemma3ForCausalLM", value: "Gemma3ForTokenClassification" },
  qkvBias: false,
  qkNorm: true,
  arithmetic: {
    activation: "gelu_tanh",
    normOffset: 1,
    foundNorms: true,
    scaledEmbedding: true,
  },
  headDim: 256,
  ropeTheta: THETA.all,
  tied: true,
  activationKey: "hidden_activation",
  keys: { attention_bias: false },
  readLayers(keys, sizes) {
    for (const key of ["attn_logit_softcapping", "final_logit_softcapping"]) {
      if (keys.has(key))
        keys.refuse(`${key} must be null: it is not computed here`, keys.number(key));
    }
    if (keys.flag("use_bidirectional_attention")) {
      keys.refuse("use_bidirectional_attention must be false", true);
    }
    const names = ["sliding_window_pattern", "_sliding_window_pattern"];
    const pattern = keys.number(names.find((name) => keys.has(name)) ?? names[0]!, PATTERN);
    const windowed = windowedByType(keys, sizes.layers) ?? locals(sizes.layers, pattern);
    const queryScalar = keys.number("query_pre_attn_scalar", 256);
    return {
      // The base is that of such layers however wide the window is.
      windowRopeTheta: THETA.window,
      windowed,
      window: keys.number("sliding_window", 4096),
      ...(queryScalar !== sizes.headDim && { queryScalar }),
    };
  },
  writeLayers: (kinds, sizes) => {
    const { sliding_window, layer_types } = writeWindows(kinds, sizes);
    return {
      ...{ sliding_window, layer_types },
      query_pre_attn_scalar: kinds.queryScalar ?? sizes.headDim,
      ...{ attn_logit_softcapping: null, final_logit_softcapping: null },
    };
  },
  pairsRows: false,
  gguf: {
    biases: "none",
    modules: {
      post_attention_layernorm: "post_attention_norm",
      pre_feedforward_layernorm: "ffn_norm",
      post_feedforward_layernorm: "post_ffw_norm",
    },
    read: (own, { layers }) => ({
      window: own("attention.sliding_window") ?? 4096,
      windowed: locals(layers, own("attention.sliding_window_pattern") ?? PATTERN),
      windowRopeTheta: own("rope.freq_base_swa") ?? THETA.window,
    }),
    write({ window, windowed, windowRopeTheta, queryScalar }, { layers, headDim }) {
      const pattern = 1 + (windowed?.indexOf(false) ?? -1) || layers + 1;
      const regular = locals(layers, pattern).every((local, i) => local === windowed?.[i]);
      if (!regular || window === undefined || (queryScalar ?? headDim) !== headDim)
        return undefined;
      return {
        "attention.sliding_window": window,
        "attention.sliding_window_pattern": pattern,
        "rope.freq_base_swa": windowRopeTheta!,
      };
    },
  },
});

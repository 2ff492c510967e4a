import { defineArchitecture } from "./definition.js";
import { withWindow, windowedByType, writeWindows } from "./windows.js";

/** Every fourth layer does not turn queries and keys, where a file does not say which. */
const STEP = 4;
const everyFourth = (i: number, step = STEP) => (i + 1) % step !== 0;

export const smollm3 = defineArchitecture({
  name: "smollm3",
  words: "SmolLM3",
  classes: { logits: "SmolLM3ForCausalLM", value: "SmolLM3ForTokenClassification" },
  qkvBias: false,
  qkNorm: false,
  ropeTheta: 2_000_000,
  tied: true,
  keys: {
    ...{ attention_bias: false, mlp_bias: false },
    ...{ use_sliding_window: false, sliding_window: null },
  },
  readLayers(keys, sizes) {
    const { layers } = sizes;
    const step = keys.number("no_rope_layer_interval", STEP);
    const said = keys.has("no_rope_layers") ? keys.numbers("no_rope_layers") : undefined;
    if (said !== undefined && said.length < layers) {
      keys.refuse(`no_rope_layers must have an entry for each of ${layers} layers`, said.length);
    }
    const rotated = Array.from({ length: layers }, (_, i) =>
      said ? said[i] !== 0 : everyFourth(i, step),
    );
    const windowed = windowedByType(keys, layers) ?? rotated.map((turns) => !turns);
    const slides = keys.flag("use_sliding_window") && keys.has("sliding_window");
    return {
      rotated,
      ...(slides && withWindow(keys.number("sliding_window"), windowed, sizes)),
    };
  },
  writeLayers: (kinds, sizes) => ({
    ...writeWindows(kinds, sizes),
    no_rope_layers: Array.from({ length: sizes.layers }, (_, i) =>
      Number(kinds.rotated?.[i] ?? true),
    ),
  }),
  pairsRows: true,
  gguf: {
    biases: "none",
    read: (_, { layers }) => ({
      rotated: Array.from({ length: layers }, (_, i) => everyFourth(i)),
    }),
    // llama.cpp has the step in its program.
    write: ({ rotated, window }) =>
      window === undefined && rotated?.every((turns, i) => turns === everyFourth(i))
        ? {}
        : undefined,
  },
});

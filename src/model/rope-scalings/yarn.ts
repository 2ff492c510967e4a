import * as exact from "../../base/exact/index.js";
import { contextRule, defineRopeScaling, factorRule } from "./definition.js";

/** Pairs that turn seldom within the trained context are stretched, fast ones left alone, with a ramp between. */
export interface YarnScaling {
  type: "yarn";
  factor: number;
  /** The context the model was trained on before stretching. */
  originalContext: number;
  /** What cosines and sines are multiplied by. */
  magnitude: number;
  /** Turns from which a pair is left alone. */
  fast: number;
  /** Turns up to which a pair is stretched in full. */
  slow: number;
  /** Whether the ramp's ends are whole pairs. */
  truncate: boolean;
}

const magnitudeOf = (factor: number, scale = 1) =>
  factor <= 1 ? 1 : 0.1 * scale * exact.log(factor) + 1;

/** The ramp's ends in llama.cpp, which knows no others. */
const usual = { fast: 32, slow: 1, truncate: true } as const;

export const yarn = defineRopeScaling<YarnScaling>({
  name: "yarn",
  words: "slow frequencies divided by a factor, and attention sharpened",
  read({ number, flag, has }, { contextLength }) {
    const originalContext = number("original_max_position_embeddings", contextLength);
    const factor = number("factor", contextLength / originalContext);
    const both = has("mscale") && has("mscale_all_dim");
    const magnitude = both
      ? magnitudeOf(factor, number("mscale")) / magnitudeOf(factor, number("mscale_all_dim"))
      : magnitudeOf(factor);
    return {
      type: "yarn",
      factor,
      originalContext,
      magnitude: number("attention_factor", magnitude),
      fast: number("beta_fast", usual.fast),
      slow: number("beta_slow", usual.slow),
      truncate: flag("truncate", usual.truncate),
    };
  },
  write: ({ factor, originalContext, magnitude, fast, slow, truncate }) => ({
    factor,
    original_max_position_embeddings: originalContext,
    attention_factor: magnitude,
    beta_fast: fast,
    beta_slow: slow,
    truncate,
  }),
  rules: ({ factor, originalContext, magnitude, fast, slow }) => [
    factorRule(factor),
    contextRule(originalContext),
    [magnitude > 0 && magnitude < Infinity, "magnitude must be positive", magnitude],
    [slow > 0, "slow must be positive", slow],
    [fast >= slow, `fast must be at least ${slow}`, fast],
  ],
  frequencies(plain, { factor, originalContext, fast, slow, truncate }, { ropeTheta, headDim }) {
    const pairAt = (turns: number) =>
      (headDim * exact.log(originalContext / (turns * 2 * Math.PI))) / (2 * exact.log(ropeTheta));
    const [from, to] = [pairAt(fast), pairAt(slow)];
    const low = Math.max(truncate ? Math.floor(from) : from, 0);
    const high = Math.min(truncate ? Math.ceil(to) : to, headDim - 1);
    const width = high === low ? 0.001 : high - low;
    return plain.map((frequency, i) => {
      const stretched = Math.min(1, Math.max(0, (i - low) / width));
      return (frequency / factor) * stretched + frequency * (1 - stretched);
    });
  },
  magnitude: ({ magnitude }) => magnitude,
  gguf({ factor, originalContext, magnitude, fast, slow, truncate }) {
    const alike = fast === usual.fast && slow === usual.slow && truncate;
    if (!alike || Math.abs(magnitude - magnitudeOf(factor)) > 1e-6) return undefined;
    return { type: "yarn", factor, original_context_length: originalContext };
  },
});

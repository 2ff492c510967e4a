import { contextRule, defineRopeScaling, factorRule } from "./definition.js";

/** Llama 3.1's stretching of slow rotary frequencies to a longer context. */
export interface Llama3Scaling {
  type?: "llama3";
  factor: number;
  lowFrequencyFactor: number;
  highFrequencyFactor: number;
  /** The context the model was trained on before stretching. */
  originalContext: number;
}

export const llama3 = defineRopeScaling<Llama3Scaling>({
  name: "llama3",
  words: "slow frequencies divided by a factor",
  read: ({ number }, { contextLength }) => ({
    factor: number("factor"),
    lowFrequencyFactor: number("low_freq_factor"),
    highFrequencyFactor: number("high_freq_factor"),
    originalContext: number("original_max_position_embeddings", contextLength),
  }),
  write: ({ factor, lowFrequencyFactor, highFrequencyFactor, originalContext }) => ({
    factor,
    low_freq_factor: lowFrequencyFactor,
    high_freq_factor: highFrequencyFactor,
    original_max_position_embeddings: originalContext,
  }),
  rules: ({ factor, lowFrequencyFactor: low, highFrequencyFactor: high, originalContext }) => [
    factorRule(factor),
    [low > 0, "lowFrequencyFactor must be positive", low],
    [high > low, `highFrequencyFactor must be above ${low}`, high],
    contextRule(originalContext),
  ],
  frequencies(plain, { factor, lowFrequencyFactor: low, highFrequencyFactor: high, ...rest }) {
    return plain.map((frequency) => {
      // Turns within the original context: many are left alone, few are stretched, between is blended.
      const turns = (rest.originalContext * frequency) / (2 * Math.PI);
      if (turns > high) return frequency;
      if (turns < low) return frequency / factor;
      const share = (turns - low) / (high - low);
      return ((1 - share) * frequency) / factor + share * frequency;
    });
  },
});

import * as exact from "../../base/exact/index.js";
import { contextRule, defineRopeScaling } from "./definition.js";

/**
 * A divisor for every pair: the long ones where the context is longer than the trained one, as vLLM and llama.cpp have
 * it. transformers takes the short ones for sequences that end within the trained context.
 */
export interface LongropeScaling {
  type: "longrope";
  shortFactors: readonly number[];
  longFactors: readonly number[];
  /** The context the model was trained on before stretching. */
  originalContext: number;
  /** What cosines and sines are multiplied by. */
  magnitude: number;
}

export const longrope = defineRopeScaling<LongropeScaling>({
  name: "longrope",
  words: "each frequency divided by a factor of its own",
  read({ number, numbers }, { contextLength }) {
    const originalContext = number("original_max_position_embeddings", contextLength);
    const factor = number("factor", contextLength / originalContext);
    const usual = factor <= 1 ? 1 : Math.sqrt(1 + exact.log(factor) / exact.log(originalContext));
    return {
      type: "longrope",
      shortFactors: numbers("short_factor"),
      longFactors: numbers("long_factor"),
      originalContext,
      magnitude: number("attention_factor", usual),
    };
  },
  write: ({ shortFactors, longFactors, originalContext, magnitude }) => ({
    short_factor: shortFactors,
    long_factor: longFactors,
    original_max_position_embeddings: originalContext,
    attention_factor: magnitude,
  }),
  rules: ({ shortFactors, longFactors, originalContext, magnitude }, { headDim }) => [
    ...[shortFactors, longFactors].map((factors, i) => {
      const holds = factors.length === headDim / 2 && factors.every((factor) => factor > 0);
      const rule = `${i === 0 ? "short" : "long"}Factors must be ${headDim / 2} positive numbers`;
      return [holds, rule, factors.length] as const;
    }),
    contextRule(originalContext),
    [magnitude > 0 && magnitude < Infinity, "magnitude must be positive", magnitude],
  ],
  frequencies(plain, { shortFactors, longFactors, originalContext }, { contextLength }) {
    const factors = contextLength > originalContext ? longFactors : shortFactors;
    return plain.map((frequency, i) => frequency / factors[i]!);
  },
  magnitude: ({ magnitude }) => magnitude,
});

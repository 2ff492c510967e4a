import {
  checkOptions,
  integer,
  oneOf,
  type OptionRules,
} from "../../../common/options/check-options.js";
import type { BootstrapOptions } from "./bootstrap.js";
import { entropySignals, type ModelTokenOptions } from "./model-tokens.js";

/** What the statistics look at; each says what it used. */
export interface EntropyStatisticOptions extends ModelTokenOptions, BootstrapOptions {
  /** Tokens after a result, or before a call, that count as at the call. Default 20. */
  k?: number;
  /** The share of tokens with the greatest signal. Default 0.05. */
  share?: number;
  /**
   * Put each trajectory's signal on one scale (less its mean, by its deviation) before the greatest are taken.
   * Default: where trajectories differ in length.
   */
  zScore?: boolean;
}

export const statisticRules: OptionRules<EntropyStatisticOptions> = {
  k: integer(1),
  share: {
    must: "a number above 0 and at most 1",
    holds: (x) => typeof x === "number" && x > 0 && x <= 1,
    number: true,
  },
  zScore: "boolean?",
  signal: oneOf(entropySignals),
  topK: integer(1),
  forced: "boolean?",
  tokenizer: "tokenizer?",
  draws: integer(0),
  seed: integer(0),
};

/** The options with their defaults; `more` are the rules of a function's own. */
export function completed<T extends EntropyStatisticOptions>(
  action: string,
  options: T,
  more?: OptionRules<Omit<T, keyof EntropyStatisticOptions>>,
) {
  checkOptions<object>(action, options, { ...statisticRules, ...more });
  const { signal = "entropy", topK = 10, k = 20, share = 0.05, draws = 1000, seed = 0 } = options;
  return { ...options, signal, topK, k, share, draws, seed };
}

import { checkArguments } from "../../arguments/check-arguments.js";
import { shown } from "../../arguments/shown.js";
import type { BootstrapOptions } from "./bootstrap.js";
import type { ModelTokenOptions } from "./model-tokens.js";
import { entropySignals } from "./signal.js";

/** What the statistics look at; each says what it used. */
export interface EntropyStatisticOptions extends ModelTokenOptions, BootstrapOptions {
  /** Tokens after a result, or before a call, that count as at the call. Default 20. */
  k?: number;
  /** The share of tokens with the greatest signal. Default 0.05. */
  share?: number;
  /**
   * Put each row's signal on one scale (less its mean, by its deviation) before the greatest are taken.
   * Default: where rows differ in length.
   */
  zScore?: boolean;
}

/** The options with their defaults. */
export function completed(action: string, options: EntropyStatisticOptions) {
  checkArguments(
    action,
    { options },
    {
      options: {
        tokenizer: "tokenizer?",
        forced: "boolean?",
        zScore: "boolean?",
        draws: "count?",
        seed: "count?",
      },
    },
  );
  const { signal = "entropy", topK = 10, k = 20, share = 0.05, draws = 1000, seed = 0 } = options;
  if (!entropySignals.includes(signal)) {
    throw new RangeError(
      `Cannot ${action}: signal must be one of ${entropySignals.join(", ")}, got ${shown(signal)}`,
    );
  }
  for (const [name, value] of Object.entries({ k, topK })) {
    if (!(Number.isSafeInteger(value) && value >= 1)) {
      throw new RangeError(
        `Cannot ${action}: ${name} must be an integer of at least 1, got ${shown(value)}`,
      );
    }
  }
  if (!(share > 0 && share <= 1)) {
    throw new RangeError(
      `Cannot ${action}: share must be above 0 and at most 1, got ${shown(share)}`,
    );
  }
  return { ...options, signal, topK, k, share, draws, seed };
}

import { clipBounds } from "../clip-bounds.js";
import { dualClippedOutcome, type TokenRule, trainedOf } from "./rule.js";

/** PPO with dual clip, and AEPO's two switches. */
export const vanilla: TokenRule = {
  share(rows, { entropyBalancedAdvantage }) {
    const known = rows.every((row) => row.entropies !== undefined);
    if (!entropyBalancedAdvantage || !known) return () => ({ z: 0, factor: 1 });
    const all = trainedOf(rows, (row) => row.entropies!).filter((h) => !Number.isNaN(h));
    const mean = all.reduce((sum, h) => sum + h, 0) / Math.max(1, all.length);
    const squares = all.reduce((sum, h) => sum + (h - mean) ** 2, 0);
    const deviation = Math.sqrt(squares / Math.max(1, all.length - 1)) || 1;
    return (r, t) => {
      const entropy = rows[r]!.entropies![t]!;
      // An end token put by the rules was not sampled: it is neither certain nor uncertain.
      const z = Number.isNaN(entropy) ? 0 : (entropy - mean) / deviation;
      return { z, factor: 1 + 0.2 * z, entropyMean: mean, entropyDeviation: deviation };
    };
  },
  token({ ratio, advantage }, { factor = 1 }, options) {
    const outcome = dualClippedOutcome(ratio, advantage * factor, options);
    if (outcome.region !== "above" || !options.entropyBalancedClipping) return outcome;
    return { ...outcome, weight: clipBounds(options).high };
  },
};

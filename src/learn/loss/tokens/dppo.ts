import { clipBounds } from "../clip-bounds.js";
import { dppoLargestRatio } from "../dppo-largest-ratio.js";
import type { TokenRule } from "./rule.js";

/** DPPO: the truncated ratio as a weight, until the token's probability has diverged. */
function dppo(by: "tv" | "kl"): TokenRule {
  return {
    token({ ratio, advantage, logprob, oldLogprob }, _, options) {
      const { low, high, c } = clipBounds({
        ...options,
        clipRatioC: options.clipRatioC ?? dppoLargestRatio,
      });
      const [now, old] = [Math.exp(logprob), Math.exp(oldLogprob)];
      const move = now - old;
      const others = Math.log((1 - old + 1e-8) / (1 - now + 1e-8));
      const kl = old * (oldLogprob - logprob) + (1 - old) * others;
      const far =
        by === "tv"
          ? advantage > 0
            ? move > high - 1
            : move < low - 1
          : advantage > 0
            ? !(kl <= high - 1 || move <= 0)
            : !(kl <= 1 - low || move >= 0);
      const reach = advantage > 0 ? high - 1 : 1 - low;
      const bounded = Math.min(ratio, c);
      const weight = far ? 0 : bounded;
      return {
        ...{ ratio, used: advantage, weight },
        region: far ? (advantage > 0 ? "above" : "below") : "inside",
        loss: -weight * advantage * logprob,
        terms: { now, old, divergence: by === "tv" ? move : kl, bounded, reach, c },
      };
    },
  };
}

export const dppoTv = dppo("tv");
export const dppoKl = dppo("kl");

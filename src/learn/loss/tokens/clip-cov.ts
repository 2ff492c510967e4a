import { Random } from "../../../random/random.js";
import { lossParameters } from "../loss-parameters.js";
import { chosenAt, covarianceOf, placesOf } from "./covariance.js";
import { clippedOutcome, type TokenRule } from "./rule.js";

/** Clip-Cov: PPO's clip; of the unclipped tokens of large covariance some are dropped at random. */
export const clipCov: TokenRule = {
  share(rows, options) {
    const { clipCovRatio, clipCovLow, clipCovHigh } = lossParameters(options);
    const covariance = covarianceOf(rows);
    const chosen = chosenAt(rows, () => {
      const places = placesOf(rows);
      const candidates = places.filter(([r, t]) => {
        const { logprobs, oldLogprobs, advantages } = rows[r]!;
        const ratio = Math.exp(logprobs[t]! - oldLogprobs[t]!);
        const inside = clippedOutcome(ratio, advantages[t]!, options).region === "inside";
        const own = covariance(r, t);
        return inside && own > clipCovLow && own < clipCovHigh;
      });
      const random = Random.from(0);
      const drawn = candidates.map((place) => ({ place, draw: random.uniform() }));
      return drawn
        .sort((a, b) => b.draw - a.draw)
        .slice(0, Math.max(1, Math.floor(clipCovRatio * places.length)))
        .map(({ place }) => place);
    });
    return (r, t) => ({ covariance: covariance(r, t), chosen: chosen(r, t) });
  },
  token({ ratio, advantage }, { chosen = 0 }, options) {
    const outcome = clippedOutcome(ratio, advantage, options);
    return chosen ? { ...outcome, region: "chosen", weight: 0, loss: 0 } : outcome;
  },
};

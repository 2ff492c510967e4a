import { lossParameters } from "../loss-parameters.js";
import { chosenAt, covarianceOf, placesOf } from "./covariance.js";
import type { TokenRule } from "./rule.js";

/** KL-Cov: no clip; the tokens of greatest covariance are held where they were. */
export const klCov: TokenRule = {
  share(rows, options) {
    const { klCovRatio } = lossParameters(options);
    const covariance = covarianceOf(rows);
    const chosen = chosenAt(rows, () => {
      const places = placesOf(rows);
      if (klCovRatio === 0) return [];
      return places
        .map((place) => ({ place, own: covariance(...place) }))
        .sort((a, b) => b.own - a.own)
        .slice(0, Math.max(1, Math.floor(klCovRatio * places.length)))
        .map(({ place }) => place);
    });
    return (r, t) => ({ covariance: covariance(r, t), chosen: chosen(r, t) });
  },
  token({ ratio, logRatio, advantage }, { chosen = 0 }, options) {
    const { klCovCoefficient } = lossParameters(options);
    const plain = { ratio, used: advantage, weight: ratio, terms: { klCovCoefficient, logRatio } };
    if (!chosen) return { ...plain, region: "inside", loss: -ratio * advantage };
    return {
      ...plain,
      region: "chosen",
      hold: klCovCoefficient * Math.sign(logRatio),
      loss: klCovCoefficient * Math.abs(logRatio) - ratio * advantage,
    };
  },
};

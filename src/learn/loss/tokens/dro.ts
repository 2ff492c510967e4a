import type { TokenRule } from "./rule.js";

/** DRO: the plain gradient, and a pull back to where the token was. */
export const dro: TokenRule = {
  token({ ratio, logRatio, advantage, logprob }, _, { droBeta = NaN }) {
    const hold = droBeta * logRatio;
    return {
      ...{ ratio, region: "inside", used: advantage, weight: 1, hold },
      loss: (droBeta / 2) * logRatio ** 2 - advantage * logprob,
      terms: { droBeta, logRatio },
    };
  },
};

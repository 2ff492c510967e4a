import { lossParameters } from "../loss-parameters.js";
import type { TokenRule } from "./rule.js";

/** SAPO: a token's gradient fades the further its ratio is from 1, on either side. */
export const sapo: TokenRule = {
  token({ ratio, advantage }, _, options) {
    const { tauPositive, tauNegative } = lossParameters(options);
    const tau = advantage > 0 ? tauPositive : tauNegative;
    const gate = 1 / (1 + Math.exp(-tau * (ratio - 1)));
    return {
      ratio,
      region: "inside",
      used: advantage,
      weight: 4 * gate * (1 - gate) * ratio,
      loss: (-advantage * gate * 4) / tau,
      terms: { tau, gate },
    };
  },
};

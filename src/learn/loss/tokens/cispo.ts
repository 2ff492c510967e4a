import { clipBounds } from "../clip-bounds.js";
import { clamp, type TokenRule } from "./rule.js";

/** CISPO: the clipped ratio is a weight; no token is dropped. */
export const cispo: TokenRule = {
  token({ ratio, advantage, logprob }, _, options) {
    const { low, high } = clipBounds(options);
    const weight = clamp(ratio, low, high);
    const region = ratio > high ? "above" : ratio < low ? "below" : "inside";
    const loss = -weight * advantage * logprob;
    return { ratio, region, used: advantage, weight, loss, terms: { bounded: weight } };
  },
};

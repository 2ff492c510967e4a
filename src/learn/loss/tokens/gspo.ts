import { largestLogRatio, rowLogRatio } from "../token-ratio.js";
import { clippedOutcome, perRow, type TokenRule } from "./rule.js";

/** GSPO: a row's ratio on each of its tokens, clipped on both sides alone. */
export const gspo: TokenRule = {
  share(rows) {
    const log = perRow(rows, ({ logprobs, oldLogprobs, mask }) =>
      rowLogRatio(logprobs, oldLogprobs, mask),
    );
    return (r) => ({ rowLogRatio: log(r), ratio: Math.exp(Math.min(largestLogRatio, log(r))) });
  },
  token: ({ advantage, ratio: own }, { ratio = own }, options) =>
    clippedOutcome(ratio, advantage, options),
};

import type { Tensor } from "./base/aggregate.js";
import type { LossDefinition } from "./base/definition.js";
import * as f from "./base/formula.js";
import { clipBounds } from "./base/options.js";
import { clippedOutcome, largestLogRatio, perRow, rowLogRatio } from "./base/token-rule.js";

/**
 * GSPO: one importance ratio per sequence, the geometric mean of its tokens', clipped as a whole; each token
 * of a sequence then has the same weight.
 */
export const gspo: LossDefinition = {
  title: "GSPO",
  aggregation: "seq-mean-token-mean",
  rule: "older",
  clips: "ratio",
  ratioOf: "row",
  verl: true,

  tensors(input, options, { tf, detached, evenMaximum, figures, total }) {
    const { logprobs, oldLogprobs, advantages, mask } = input;
    const { low, high } = clipBounds(options);
    const logRatio: Tensor = logprobs.sub(oldLogprobs);
    const counts = tf.maximum(mask.sum(-1, true), 1);
    const ratio: Tensor = tf.minimum(logRatio.mul(mask).sum(-1, true).div(counts), largestLogRatio);
    // Forward: the sequence's ratio on every token. Backward: it moves with the token's own log-probability.
    const perToken: Tensor = logprobs.sub<Tensor>(detached(logprobs)).add(detached(ratio)).exp();
    const unclipped: Tensor = perToken.mul(advantages).neg();
    const clipped: Tensor = perToken.clipByValue(low, high).mul(advantages).neg();
    return {
      loss: total(evenMaximum(unclipped, clipped)),
      metrics: figures(input, logRatio, { clipped: clipped.greater(unclipped) }),
    };
  },

  share(rows) {
    const log = perRow(rows, rowLogRatio);
    return (r) => ({ rowLogRatio: log(r), ratio: Math.exp(Math.min(largestLogRatio, log(r))) });
  },
  token: ({ advantage, ratio: own }, { ratio = own }, options) =>
    clippedOutcome(ratio, advantage, options),

  formula: () => [
    f.meanRatio("row", "gspo.tensors.ratio"),
    f.clipLine("gspo.tensors.clipped"),
    f.tokenLoss(f.candidates(f.given), "gspo.tensors.loss"),
  ],
  gradient: { code: ["clippedOutcome.return"] },
};

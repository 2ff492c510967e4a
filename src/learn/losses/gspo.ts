import type { Advice } from "../../../common/options/setting.js";
import type { Tensor } from "./base/aggregate.js";
import { defineLoss, type LossRun } from "./base/definition.js";
import * as f from "./base/formula.js";
import { clipBounds } from "./base/options.js";
import { clippedOutcome, largestLogRatio, perRow, rowLogRatio } from "./base/token-rule.js";

/** What doctor says of a clip that means of log ratios hardly reach. */
export function wideForMeans(loss: string, run: LossRun): Advice[] {
  const { clipRatio = 0, clipRatioLow = clipRatio, clipRatioHigh = clipRatio } = run;
  const widest = Math.max(clipRatioLow, clipRatioHigh);
  if (widest <= 0.05) return [];
  return [
    {
      ...{ id: "mean-ratio-clip", status: "note" },
      found: `${loss} clips means of log ratios, which hardly reach ${widest}; published are 3e-4 and 4e-4 (gspo), 3e-3 and 4e-3 (gspo_turn)`,
    },
  ];
}

/**
 * GSPO: one importance ratio per sequence, the geometric mean of its tokens', clipped as a whole; each token
 * of a sequence then has the same weight.
 */
export const gspo = defineLoss({
  name: "gspo",
  title: "GSPO",
  aggregation: "seq-mean-token-mean",
  rule: "older",
  clips: "ratio",
  ratioOf: "row",
  verl: true,
  presets: {
    gspo: { clipRatioLow: 3e-4, clipRatioHigh: 4e-4, aggregation: "seq-mean-token-mean" },
  },
  views: {
    gspo: {
      label: "GSPO",
      summary:
        "One ratio for the whole trajectory, clipped narrowly: all of its tokens stay or go together.",
    },
  },

  tensors(input, options, { tf, detached, clip, evenMaximum, figures, total }) {
    const { logprobs, oldLogprobs, advantages, mask } = input;
    const { low, high } = clipBounds(options);
    const logRatio: Tensor = logprobs.sub(oldLogprobs);
    const counts = tf.maximum(mask.sum(-1, true), 1);
    const ratio: Tensor = logRatio.mul(mask).sum(-1, true).div(counts);
    // Forward: the sequence's ratio on every token. Backward: it moves with the token's own log-probability.
    const moving: Tensor = logprobs.sub<Tensor>(detached(logprobs)).add(detached(ratio));
    // A sequence beyond the bound has no gradient.
    const perToken: Tensor = tf.minimum<Tensor>(moving, largestLogRatio).exp();
    const unclipped: Tensor = perToken.mul(advantages).neg();
    const clipped: Tensor = clip(perToken, low, high).mul(advantages).neg();
    return {
      loss: total(evenMaximum(unclipped, clipped)),
      metrics: figures(input, logRatio, { clipped: clipped.greater(unclipped) }),
    };
  },

  share(rows) {
    const log = perRow(rows, rowLogRatio);
    return (r) => ({ rowLogRatio: log(r), ratio: Math.exp(Math.min(largestLogRatio, log(r))) });
  },
  token({ advantage, ratio: own }, { ratio = own, rowLogRatio: log = 0 }, options) {
    const outcome = clippedOutcome(ratio, advantage, options);
    return log > largestLogRatio ? { ...outcome, region: "dropped", weight: 0 } : outcome;
  },

  formula: () => [
    f.meanRatio("row", "gspo.tensors.ratio"),
    f.clipLine("gspo.tensors.clipped"),
    f.tokenLoss(f.candidates(f.given), "gspo.tensors.loss"),
  ],
  gradient: { code: ["clippedOutcome.return"] },

  advice(run) {
    const { aggregation = "" } = run;
    const byTokens: Advice = {
      ...{ id: "gspo-by-tokens", status: "warning" },
      found: `gspo gives a trajectory one ratio, and loss_agg_mode=${aggregation} lets long trajectories count for more`,
      fix: "actor_rollout_ref.actor.loss_agg_mode=seq-mean-token-mean",
    };
    return [...(aggregation.startsWith("token") ? [byTokens] : []), ...wideForMeans("gspo", run)];
  },
});

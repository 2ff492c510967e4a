import type { Tensor } from "./base/aggregate.js";
import { defineLoss } from "./base/definition.js";
import * as f from "./base/formula.js";
import { clipBounds, type LossSettings } from "./base/options.js";
import { clamp, type LossRow, perRow } from "./base/token-rule.js";

/** A log ratio as GMPO counts it: clipped where that is no gain. */
function counted(log: number, advantage: number, options: LossSettings): number {
  const { low, high } = clipBounds(options);
  const within = clamp(log, low - 1, high - 1);
  if (advantage === 0) return 0;
  return advantage > 0 ? Math.min(log, within) : Math.max(log, within);
}

function rowMeans({ logprobs, oldLogprobs, advantages, mask }: LossRow, options: LossSettings) {
  let [tokens, advantage, log] = [0, 0, 0];
  for (let t = 0; t < mask.length; t++) {
    if (!mask[t]) continue;
    tokens++;
    advantage += advantages[t]!;
    log += counted(logprobs[t]! - oldLogprobs[t]!, advantages[t]!, options);
  }
  const size = tokens + 1e-8;
  return { meanAdvantage: advantage / size, ratio: Math.exp(log / size) };
}

/**
 * GMPO: a sequence's loss is its mean advantage times the geometric mean of its clipped ratios; a clipped
 * token moves neither.
 */
export const geoMean = defineLoss({
  name: "geo_mean",
  title: "GMPO",
  aggregation: "seq-mean-token-mean",
  ownAggregation: { sum: "geoMean.tensors.loss" },
  // A plain mean over sequences, those without a token included: the older rule's.
  rule: "older",
  clips: "log ratio",
  ratioOf: "row",
  verl: true,
  presets: { gmpo: {} },
  views: {
    gmpo: {
      label: "GMPO",
      summary: "A trajectory's ratio is the geometric mean of its clipped ones.",
    },
  },

  tensors(input, options, { tf, clip, evenMinimum, figures }) {
    const { low, high } = clipBounds(options);
    const { logprobs, oldLogprobs, advantages, mask, rolloutWeights } = input;
    const logRatio: Tensor = logprobs.sub(oldLogprobs);
    const within: Tensor = clip(logRatio, low - 1, high - 1);
    const sign: Tensor = tf.sign(advantages);
    const clipped = sign.mul<Tensor>(evenMinimum(sign.mul(logRatio), sign.mul(within)));
    const rowMean = (values: Tensor): Tensor =>
      values.mul(mask).sum(-1).div(mask.sum(-1).add(1e-8));
    const losses: Tensor = rowMean(advantages).mul<Tensor>(rowMean(clipped).exp()).neg();
    const weighed: Tensor = rolloutWeights
      ? losses.mul(rowMean(rolloutWeights.add(1e-10).log()).exp())
      : losses;
    const outside = logRatio.notEqual(within);
    return {
      loss: weighed.mean(),
      metrics: figures(input, logRatio, {
        clipped: outside.logicalAnd(advantages.greater(0)),
        lower: outside.logicalAnd(advantages.less(0)),
      }),
    };
  },

  share(rows, options) {
    const means = perRow(rows, (row) => rowMeans(row, options));
    return (r) => means(r);
  },
  // One weight for a sequence: the geometric mean of its tokens'.
  weigh(rows) {
    const mean = perRow(rows, ({ weights, mask }) => {
      let [tokens, log] = [0, 0];
      for (let t = 0; t < mask.length; t++) {
        if (!mask[t]) continue;
        tokens++;
        log += Math.log((weights?.[t] ?? 1) + 1e-10);
      }
      return Math.exp(log / (tokens + 1e-8));
    });
    return (r) => mean(r);
  },
  token({ logRatio, advantage, ratio: own }, { meanAdvantage, ratio = own }, options) {
    const used = meanAdvantage ?? advantage;
    const bounded = counted(logRatio, advantage, options);
    const moves = advantage !== 0 && bounded === logRatio;
    return {
      ...{ ratio, used, weight: moves ? ratio : 0 },
      region: moves || advantage === 0 ? "inside" : advantage > 0 ? "above" : "below",
      loss: -ratio * used,
      terms: { logRatio, bounded },
    };
  },

  formula() {
    const advantage = f.symbol("used", "<mover><mi>A</mi><mo>¯</mo></mover>");
    const clipped = f.sub(f.mi("c"), f.mi("t"));
    const kept = f.symbol("bounded", clipped);
    const within = f.call("clip", f.logRatio, f.down, f.up);
    return [
      ...f.bySign(
        "Log ratio, clipped where that is no gain",
        "geoMean.tensors.clipped",
        f.math(kept, f.equals, f.call("min", f.logRatio, within)),
        f.math(kept, f.equals, f.call("max", f.logRatio, within)),
      ),
      f.line(
        "Ratio: the geometric mean over the sequence",
        f.math(f.ratio, f.equals, f.call("exp", f.meanOver("row", clipped))),
        "geoMean.tensors.rowMean",
      ),
      f.tokenLoss(f.row(f.minus, advantage, f.times, f.ratio), "geoMean.tensors.losses"),
    ];
  },
  gradient: { code: ["geoMean.token.moves"], ownAdvantage: () => true },
});

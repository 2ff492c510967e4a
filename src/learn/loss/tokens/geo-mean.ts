import { clipBounds } from "../clip-bounds.js";
import { clamp, type LossRow, perRow, type TokenRule, type TokenRuleOptions } from "./rule.js";

/** A log ratio as GMPO counts it: clipped where that is no gain. */
function counted(log: number, advantage: number, options: TokenRuleOptions): number {
  const { low, high } = clipBounds(options);
  const within = clamp(log, low - 1, high - 1);
  if (advantage === 0) return 0;
  return advantage > 0 ? Math.min(log, within) : Math.max(log, within);
}

function rowMeans({ logprobs, oldLogprobs, advantages, mask }: LossRow, options: TokenRuleOptions) {
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

/** GMPO: the row's mean advantage and ratio on each of its tokens; a clipped one moves neither. */
export const geoMean: TokenRule = {
  share(rows, options) {
    const means = perRow(rows, (row) => rowMeans(row, options));
    return (r) => means(r);
  },
  // One weight for a row: the geometric mean of its tokens'.
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
};

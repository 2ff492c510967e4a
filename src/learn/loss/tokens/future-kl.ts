import { clipBounds } from "../clip-bounds.js";
import { largestFutureFactor, safeFactor } from "../future-factor.js";
import { lossParameters } from "../loss-parameters.js";
import { widestLogRatio } from "../turn-numbers.js";
import {
  clamp,
  dualClippedOutcome,
  type LossRow,
  perRow,
  type TokenRule,
  type TokenRuleOptions,
} from "./rule.js";

/** A row's factors, from its end: what follows a token counts the less the later it is. */
function futureOf(row: LossRow, options: TokenRuleOptions) {
  const { futureDecay, futureClip, futureHighOnly, futureWeight, futureSafety } =
    lossParameters(options);
  const { c } = clipBounds(options);
  const { logprobs, oldLogprobs, advantages, mask } = row;
  const decay = 2 ** (-1 / futureDecay);
  const high = futureClip === 0 ? largestFutureFactor : 1 + futureClip;
  const low = futureClip === 0 ? 0 : futureHighOnly ? 1 : 1 - futureClip;
  const factors = new Float64Array(mask.length);
  let [sum, cut] = [0, 0];
  for (let t = mask.length - 1; t >= 0; t--) {
    const log = clamp(logprobs[t]! - oldLogprobs[t]!, -widestLogRatio, widestLogRatio);
    sum = sum * decay + (mask[t] && log <= Math.log(c) ? log : 0);
    const factor = clamp(Math.exp(sum), low, high);
    const unsafe = advantages[t]! < 0 && Math.exp(log) > futureSafety;
    factors[t] = unsafe ? clamp(factor, safeFactor.low, safeFactor.high) : factor;
    const used = advantages[t]! * (1 + futureWeight * factors[t]!);
    if (mask[t] && dualClippedOutcome(Math.exp(log), used, options).region === "dual") cut++;
  }
  return { factors, dropped: Number(cut > 1) };
}

/** APPO's: PPO with dual clip on advantages that grow with how much likelier the future has become. */
export const futureKl: TokenRule = {
  share(rows, options) {
    const found = perRow(rows, (row) => futureOf(row, options));
    return (r, t) => ({ future: found(r).factors[t]!, dropped: found(r).dropped });
  },
  token({ ratio, advantage }, { future = 1, dropped = 0 }, options) {
    const { futureWeight } = lossParameters(options);
    const factor = 1 + futureWeight * future;
    const outcome = dualClippedOutcome(ratio, advantage * factor, options);
    const told = { ...outcome, terms: { ...outcome.terms, futureWeight, factor } };
    return dropped ? { ...told, region: "dropped", weight: 0, loss: 0 } : told;
  },
};

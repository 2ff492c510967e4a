import type { Rows } from "../advantage/masked.js";
import type { Figures } from "./correction-weights.js";
import {
  bounded,
  greatest,
  least,
  mean,
  refuseEmpty,
  rowMean,
  rowSum,
  tokenMean,
} from "./masked-figures.js";

/**
 * How far the policy that trains is from the one that sampled, under the reference's names:
 * perplexities, divergences and what rows differ by.
 */
export function mismatchMetrics(input: {
  /** ln p under the policy that trains. */
  logprobs: Rows;
  /** ln p under the policy that sampled. */
  sampledLogprobs: Rows;
  mask: Rows;
}): Figures {
  const { logprobs, sampledLogprobs: sampled, mask } = input;
  refuseEmpty(mask);
  const ratio = (i: number, t: number) => logprobs[i]![t]! - sampled[i]![t]!;
  const ratios = mask.map((row, i) => Float64Array.from(row, (m, t) => (m ? ratio(i, t) : 0)));
  const own = mask.map((row, i) => rowMean(logprobs[i]!, row));
  const theirs = mask.map((row, i) => rowMean(sampled[i]!, row));
  const apart = theirs.map((value, i) => value - own[i]!);
  return {
    training_ppl: mean(own.map((x) => Math.exp(-x))),
    training_log_ppl: -mean(own),
    kl: tokenMean(mask, (i, t) => sampled[i]![t]! - logprobs[i]![t]!),
    k3_kl: tokenMean(mask, (i, t) => Math.exp(ratio(i, t)) - ratio(i, t) - 1),
    rollout_ppl: mean(theirs.map((x) => Math.exp(-x))),
    rollout_log_ppl: -mean(theirs),
    log_ppl_diff: mean(apart),
    log_ppl_abs_diff: mean(apart.map(Math.abs)),
    log_ppl_diff_max: greatest(apart),
    log_ppl_diff_min: least(apart),
    ppl_ratio: mean(apart.map(Math.exp)),
    chi2_token: tokenMean(mask, (i, t) => Math.exp(bounded(ratio(i, t))) ** 2) - 1,
    chi2_seq: mean(ratios.map((row, i) => Math.exp(2 * bounded(rowSum(row, mask[i]!))))) - 1,
  };
}

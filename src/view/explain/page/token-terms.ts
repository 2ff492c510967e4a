import { clipBounds } from "../../../learn/loss/clip-bounds.js";
import type { KlKind } from "../../../learn/loss/kl.js";
import { tokenRatio } from "../../../learn/loss/token-ratio.js";
import { type ClipRegion, tokenUpdate } from "../../../learn/loss/token-update.js";
import type { ObjectiveSettings } from "../payload.js";

/** What the objective sees of one token. */
export interface TokenInput {
  /** As the estimator gave it. */
  advantage: number;
  logprob: number;
  oldLogprob: number;
  /** NaN without a reference policy. */
  refLogprob: number;
  entropy: number;
  /** Mean of logprob - oldLogprob over the trained tokens of its row. */
  rowLogRatio: number;
  /** Of the entropies of all trained tokens; a deviation of 0 stands for 1. */
  entropyMean: number;
  entropyDeviation: number;
  /** What the token counts for in the loss of the batch. */
  share: number;
}

/** Every quantity of the objective at one token. */
export interface TokenTerms extends TokenInput {
  /** How far its entropy is from the mean, in deviations; and what AEPO makes of it. */
  z: number;
  factor: number;
  /** The advantage as used. */
  used: number;
  ratio: number;
  low: number;
  high: number;
  c: number;
  /** The ratio, kept between the bounds. */
  bounded: number;
  unclipped: number;
  clipped: number;
  worse: number;
  loss: number;
  region: ClipRegion;
  /** Factor of grad ln p: 0 where clipping drops the token. */
  weight: number;
  /** d loss / d ln p, of the token and of the batch. */
  slope: number;
  push: number;
  kl: number;
  klSlope: number;
  beta: number;
}

/** The estimate of the divergence from the reference at one token, and its slope. */
function klTerm(kind: KlKind, d: number): { value: number; slope: number } {
  if (kind === "kl" || kind === "k1") return { value: d, slope: 1 };
  if (kind === "abs") return { value: Math.abs(d), slope: Math.sign(d) };
  if (kind === "mse" || kind === "k2") return { value: (d * d) / 2, slope: d };
  const value = Math.exp(-d) + d - 1;
  const inside = value >= -10 && value <= 10;
  return { value: Math.max(-10, Math.min(10, value)), slope: inside ? 1 - Math.exp(-d) : 0 };
}

/** What an objective makes of one token: the library's arithmetic, one number at a time. */
export function tokenTerms(input: TokenInput, settings: ObjectiveSettings): TokenTerms {
  const { advantage, logprob, refLogprob, entropy, share } = input;
  const { low, high, c } = clipBounds(settings);
  const gspo = settings.ratio === "gspo";
  const z = (entropy - input.entropyMean) / input.entropyDeviation;
  const factor = settings.entropyBalancedAdvantage && !gspo ? 1 + 0.2 * z : 1;
  const used = advantage * factor;
  const ratio = tokenRatio(input, settings.ratio);
  const bounded = Math.max(low, Math.min(high, ratio));
  const unclipped = -ratio * used;
  const clipped = -bounded * used;
  const worse = Math.max(unclipped, clipped);
  const loss = used < 0 && !gspo ? Math.min(-c * used, worse) : worse;
  const told = tokenUpdate(ratio, used, settings);
  const slope = -told.weight * used;
  const beta = settings.klLossCoefficient ?? 0;
  const kl = klTerm(settings.klLossKind ?? "low_var_kl", logprob - refLogprob);
  const klSlope = beta === 0 ? 0 : beta * kl.slope;
  return {
    ...input,
    ...{ z, factor, used, ratio, low, high, c, bounded, unclipped, clipped, worse, loss },
    ...{ region: told.region, weight: told.weight, slope, push: share * (slope + klSlope) },
    ...{ kl: kl.value, klSlope, beta },
  };
}

import { clipBounds, type KlKind } from "../../../learn/losses/base/options.js";
import { type ClipRegion, type Shared, weighed } from "../../../learn/losses/base/token-rule.js";
import type { ExplainedAlgorithm } from "../payload.js";
import { type ShownLoss, shownLoss } from "./shown-loss.js";

/** What the objective sees of one token. */
export interface TokenInput {
  /** As the estimator gave it. */
  advantage: number;
  logprob: number;
  oldLogprob: number;
  /** NaN without a reference policy. */
  refLogprob: number;
  entropy: number;
  /** What a critic expects before the token. */
  value: number;
  /** What the token counts for in the loss of the batch. */
  share: number;
  /** What a correction for another sampler multiplies its loss by. */
  correction: number;
  /** What the loss makes of the token's trajectory, turn or batch. */
  shared: Shared;
}

/** Every quantity of the objective at one token: these, and those of its own loss by name. */
export interface TokenTerms extends TokenInput {
  /** What the advantage is multiplied by before it is used. */
  factor: number;
  /** The advantage as used. */
  used: number;
  ratio: number;
  logRatio: number;
  /** Where the loss clips; NaN where it does not. */
  low: number;
  high: number;
  c: number;
  loss: number;
  region: ClipRegion;
  /** Factor of grad ln p: 0 where the loss drops the token; and what pulls it back besides. */
  weight: number;
  hold: number;
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

/** Where a loss clips, in what it clips: ratios, log ratios, or how far a probability moves. */
function boundsOf({ facts, settings }: ShownLoss): { low: number; high: number; c: number } {
  const { low, high, c } = clipBounds(settings);
  const { clips } = facts;
  if (clips === "ratio") return { low, high, c };
  return clips === undefined ? { low: NaN, high: NaN, c } : { low: low - 1, high: high - 1, c };
}

/** What an objective makes of one token: the library's arithmetic, one number at a time. */
export function tokenTerms(
  input: TokenInput,
  algorithm: Pick<ExplainedAlgorithm, "settings" | "loss">,
): TokenTerms {
  const by = shownLoss(algorithm);
  const { settings } = by;
  const { advantage, logprob, oldLogprob, refLogprob, share, shared } = input;
  const logRatio = logprob - oldLogprob;
  const seen = { advantage, logprob, oldLogprob, logRatio, ratio: Math.exp(logRatio) };
  const alone = by.rule.token(seen, shared, settings);
  const outcome = weighed(alone, input.correction);
  const { ratio, region, used, weight, hold = 0, loss, terms } = outcome;
  const slope = hold - weight * used;
  const beta = settings.klLossCoefficient ?? 0;
  const kl = klTerm(settings.klLossKind ?? "low_var_kl", logprob - refLogprob);
  const klSlope = beta === 0 ? 0 : beta * kl.slope;
  return {
    ...{ factor: 1, logRatio, ...boundsOf(by), ...shared, ...terms },
    ...input,
    ...{ ratio, region, used, weight, hold, loss, slope, push: share * (slope + klSlope) },
    ...{ kl: kl.value, klSlope, beta },
  };
}

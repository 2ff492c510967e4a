import { detached, either, evenMaximum, evenMinimum, tf } from "../../tensor/index.js";
import {
  type AggregateOptions,
  type LossAggregation,
  type Tensor,
  aggregateLoss,
  maskedTensorMean,
} from "./aggregate.js";
import { entropyAwareAdvantage } from "./entropy-advantage.js";

/** What the policy loss is computed from; all are [rows, tokens]. */
export interface PolicyLossInput {
  /** ln p of each token under the policy being trained: the only input with a gradient. */
  logprobs: Tensor;
  /** The same under the policy that is being improved on, recomputed before the update. */
  oldLogprobs: Tensor;
  advantages: Tensor;
  /** 1 on tokens that the model wrote. */
  mask: Tensor;
  /** Detached entropies; needed by AEPO's entropy-aware advantage alone. */
  entropies?: Tensor;
}

export interface PolicyLossOptions {
  clipRatio?: number;
  /** How far below 1 the ratio may fall; `clipRatio` when unset. */
  clipRatioLow?: number;
  /** How far above 1 the ratio may rise; `clipRatio` when unset. */
  clipRatioHigh?: number;
  /** Dual clip: bounds the loss of tokens with a negative advantage and a large ratio. */
  clipRatioC?: number;
  aggregation?: LossAggregation;
  /** AEPO: tokens above the upper bound keep the gradient (1 + high) instead of losing it. */
  entropyBalancedClipping?: boolean;
  /** AEPO: weigh advantages by how uncertain the token was. */
  entropyBalancedAdvantage?: boolean;
  /** Length that `seq-mean-token-sum-norm` divides by; unset: the matrix's own. */
  paddedLength?: number;
  /** Give NaN where the reference does: an empty row, a single valid token. */
  referenceNaN?: boolean;
}

/** The token losses before they are masked and aggregated, with the two candidates they came from. */
export interface TokenLosses {
  losses: Tensor;
  ratio: Tensor;
  unclipped: Tensor;
  clipped: Tensor;
  /** Advantages as used, after entropy-awareness. */
  advantages: Tensor;
}

/** A scalar with the reference's figures beside it. */
export interface PolicyLoss {
  loss: Tensor;
  /** Scalars; the caller disposes of them. */
  metrics: { pg_clipfrac: Tensor; ppo_kl: Tensor; pg_clipfrac_lower: Tensor };
}

/** How this loss's terms are aggregated. */
export function aggregateOptions(options: PolicyLossOptions): AggregateOptions {
  const { paddedLength } = options;
  return {
    emptyRow: options.referenceNaN ? "nan" : "zero",
    ...(paddedLength === undefined ? {} : { paddedLength }),
  };
}

function bounds(options: PolicyLossOptions): { low: number; high: number; c: number } {
  const { clipRatio = 0.2, clipRatioC: c = 3 } = options;
  const low = 1 - (options.clipRatioLow ?? clipRatio);
  const high = 1 + (options.clipRatioHigh ?? clipRatio);
  if (!(c > 1)) throw new RangeError(`Cannot clip: clipRatioC must be greater than 1, got ${c}`);
  if (!(low <= 1 && high >= 1)) {
    throw new RangeError(
      `Cannot clip: clip ratios must not be negative, got bounds ${low} to ${high}`,
    );
  }
  return { low, high, c };
}

/** Token losses of PPO with dual clip, or of AEPO with entropy-balanced clipping. */
export function tokenPolicyLosses(
  input: PolicyLossInput,
  options: PolicyLossOptions = {},
): TokenLosses {
  const { logprobs, oldLogprobs, mask, entropies } = input;
  const { low, high, c } = bounds(options);
  const advantages =
    options.entropyBalancedAdvantage && entropies
      ? entropyAwareAdvantage(input.advantages, entropies, mask, {
          singleToken: options.referenceNaN ? "nan" : "one",
        })
      : input.advantages;
  const ratio: Tensor = logprobs.sub(oldLogprobs).exp();
  // AEPO's upper bound has the value of PPO's and, where it holds, the gradient (1 + high) grad logp.
  const inBounds: Tensor = options.entropyBalancedClipping
    ? tf.minimum(tf.maximum(ratio, low), tf.div<Tensor>(high, detached(ratio)).mul(ratio))
    : ratio.clipByValue(low, high);
  const unclipped: Tensor = ratio.mul(advantages).neg();
  const clipped: Tensor = inBounds.mul(advantages).neg();
  const worse = evenMaximum(unclipped, clipped);
  const dual = evenMinimum(advantages.mul(-c), worse);
  const losses = either(advantages.less(0), dual, worse);
  return { losses, ratio, unclipped, clipped, advantages };
}

/**
 * The policy loss: PPO with dual clip, and with AEPO's two switches. ARPO and GRPO use it as it is.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { policyLoss } from "arpo-lab/learn";
 * import { tf } from "arpo-lab/tensor";
 *
 * const row = (x: number) => tf.fill([1, 1], x);
 * const input = { oldLogprobs: row(-2), advantages: row(1), mask: row(1) };
 * const slope = (entropyBalancedClipping: boolean) =>
 *   tf.grad((logprobs) => policyLoss({ ...input, logprobs }, { entropyBalancedClipping }).loss)(
 *     row(-1),
 *   ).dataSync()[0];
 * assert.equal(slope(false), 0); // ratio e is above 1.2: PPO drops the token,
 * assert.ok(Math.abs(slope(true) + 1.2) < 1e-5); // AEPO keeps it with weight 1.2
 * ```
 */
export function policyLoss(input: PolicyLossInput, options: PolicyLossOptions = {}): PolicyLoss {
  const { logprobs, oldLogprobs, mask } = input;
  const { losses, unclipped, clipped, advantages } = tokenPolicyLosses(input, options);
  const { c } = bounds(options);
  const share = (condition: Tensor) => maskedTensorMean(condition.cast("float32"), mask);
  const worse = tf.maximum(unclipped, clipped);
  const cutBelow = worse.greater(advantages.mul(-c)).logicalAnd(advantages.less(0));
  return {
    loss: aggregateLoss(
      losses,
      mask,
      options.aggregation ?? "token-mean",
      aggregateOptions(options),
    ),
    metrics: {
      pg_clipfrac: share(clipped.greater(unclipped)),
      ppo_kl: maskedTensorMean(oldLogprobs.sub(logprobs), mask),
      pg_clipfrac_lower: share(cutBelow),
    },
  };
}

import { detached } from "../../tensor/detached.js";
import { tf } from "../../tensor/tf.js";
import type { Tensor } from "../loss/aggregate.js";
import { largestLogRatio } from "./masked-figures.js";
import { readTests } from "./rejection-tests.js";
import type { CorrectionSettings } from "./rollout-correction.js";
import { parseBounds } from "./thresholds.js";

const bounded = (x: Tensor): Tensor => x.clipByValue(-largestLogRatio, largestLogRatio);

/** Importance weights as `correctionWeights` makes them, of [rows, tokens]. */
function weightsOf(logRatio: Tensor, mask: Tensor, settings: CorrectionSettings): Tensor {
  const { lower, upper } = parseBounds("threshold", settings.threshold);
  const ofRows = settings.weights === "sequence";
  const sums: Tensor = logRatio.mul(mask).sum(-1, true);
  const raw: Tensor = bounded(ofRows ? sums : logRatio)
    .exp()
    .mul(mask);
  const weights: Tensor =
    lower === undefined
      ? tf.minimum(raw, upper)
      : raw.mul(raw.greaterEqual(lower).logicalAnd(raw.lessEqual(upper)).cast("float32"));
  if (!settings.normalize) return weights;
  const counts: Tensor = mask.sum(-1);
  const mean: Tensor = ofRows
    ? weights
        .sum(-1)
        .div(counts.add(1e-8))
        .sum()
        .div(tf.maximum(counts.greater(0).cast("float32").sum(), 1e-8))
    : weights.sum().div(mask.sum().add(1e-8));
  return weights.div(tf.where(mean.greater(1e-8), mean, tf.onesLike(mean)));
}

/** 1 on the tokens that pass, as `rejectionMask` decides. */
function keptOf(logRatio: Tensor, mask: Tensor, settings: CorrectionSettings): Tensor {
  const r = bounded(logRatio);
  const divergence = {
    k1: () => r.neg(),
    k2: () => r.square().div(2),
    k3: () => r.exp().sub(1).sub(r),
  };
  let kept: Tensor = mask;
  for (const { name, lower, upper } of readTests(settings.rejection!)) {
    const tokens: Tensor = divergence[name.slice(-2) as keyof typeof divergence]().mul(mask);
    const sum = () => tokens.sum(-1, true);
    const statistic: Tensor = name.startsWith("token")
      ? tokens
      : name.startsWith("seq_sum")
        ? sum()
        : name.startsWith("seq_mean")
          ? sum().div(mask.sum(-1, true).add(1e-8))
          : tokens.max(-1, true);
    const passes = statistic.lessEqual(upper);
    kept = kept.mul(
      (lower === undefined ? passes : passes.logicalAnd(statistic.greaterEqual(lower))).cast(
        "float32",
      ),
    );
  }
  return kept;
}

/**
 * What bypass multiplies the token losses by, as the policy stands now: importance weights where the
 * loss has no ratio of its own, and 0 on tokens that were rejected, which go on counting as tokens.
 * Undefined where that is 1 everywhere.
 */
export function bypassWeights(
  logprobs: Tensor,
  sampledLogprobs: Tensor,
  mask: Tensor,
  settings: CorrectionSettings,
): Tensor | undefined {
  const logRatio: Tensor = detached(logprobs).sub<Tensor>(sampledLogprobs).mul(mask);
  const weighs = settings.bypass === "reinforce" && settings.weights !== null;
  const weights = weighs ? weightsOf(logRatio, mask, settings) : undefined;
  const kept = settings.rejection ? keptOf(logRatio, mask, settings) : undefined;
  return weights && kept ? weights.mul(kept) : (weights ?? kept);
}

import { either, evenMaximum, evenMinimum } from "../../tensor/extremum.js";
import { tf } from "../../tensor/tf.js";
import { type Tensor, aggregateLoss, maskedTensorMean } from "./aggregate.js";
import { aggregationOf } from "./aggregation-choice.js";
import { clipBounds } from "./clip-bounds.js";
import { boundedLogRatio } from "./loss-parts.js";
import {
  type PolicyLoss,
  type PolicyLossInput,
  type PolicyLossOptions,
  aggregateOptions,
} from "./policy-loss-types.js";
import { countedTurns, turnsOf } from "./turn-numbers.js";
import { maskRows, spreadByTurn, sumByTurn, turnPlaces } from "./turns.js";

/**
 * Tree-GRPO's loss by turns: a turn's ratio is the geometric mean of its tokens', with the gradient
 * through that mean, under PPO's dual clip.
 */
export function turnLoss(input: PolicyLossInput, options: PolicyLossOptions = {}): PolicyLoss {
  const { low, high, c } = clipBounds(options);
  const { advantages, mask, rolloutWeights } = input;
  const places = turnPlaces(input.turns ?? maskRows(mask).map(turnsOf), countedTurns);
  const logRatio = boundedLogRatio(input);
  const sizes = tf.maximum(sumByTurn(mask, places), 1);
  const means = sumByTurn(logRatio.mul(mask), places).div<tf.Tensor2D>(sizes);
  const moved = spreadByTurn(means, places).mul<Tensor>(mask);
  const ratio: Tensor = spreadByTurn(means.exp(), places).mul(mask);
  const unclipped: Tensor = ratio.mul(advantages).neg();
  const clipped: Tensor = ratio.clipByValue(low, high).mul(advantages).neg();
  const worse = evenMaximum(unclipped, clipped);
  const cap: Tensor = advantages.mul(-c);
  const losses = either(advantages.less(0), evenMinimum(cap, worse), worse);
  const weighed: Tensor = rolloutWeights ? losses.mul(rolloutWeights) : losses;
  const { mode, rule } = aggregationOf({ ...options, loss: "turn" });
  const mean = (values: Tensor): Tensor =>
    options.referenceNaN ? values.mul(mask).sum().div(mask.sum()) : maskedTensorMean(values, mask);
  return {
    // Tree-GRPO's token mean has no epsilon, as the newer verl's.
    loss: aggregateLoss(weighed, mask, mode, {
      ...aggregateOptions(options),
      rule: mode === "token-mean" ? "verl-0.9.1" : rule,
    }),
    metrics: {
      pg_clipfrac: mean(clipped.greater(unclipped).cast("float32")),
      // There it is a mean over all places, with 0 on what is masked or in no counted turn.
      ppo_kl: options.referenceNaN ? moved.neg().mean() : mean(moved.neg()),
      pg_clipfrac_lower: mean(worse.greater(cap).logicalAnd(advantages.less(0)).cast("float32")),
    },
  };
}

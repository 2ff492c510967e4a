import { detached } from "../../tensor/detached.js";
import { evenMaximum } from "../../tensor/extremum.js";
import { tf } from "../../tensor/tf.js";
import type { Tensor } from "./aggregate.js";
import { clipBounds } from "./clip-bounds.js";
import { figures, totalOf } from "./loss-parts.js";
import type { PolicyLoss, PolicyLossInput, PolicyLossOptions } from "./policy-loss-types.js";
import { largestLogRatio } from "./token-ratio.js";
import { turnsOf } from "./turn-numbers.js";
import { maskRows, spreadByTurn, sumByTurn, turnPlaces } from "./turns.js";

/**
 * AT2PO's loss: one ratio per turn, the geometric mean of its tokens', clipped as a whole. Forward it is
 * the turn's on every token; backward it moves with the token's own log-probability.
 */
export function gspoTurnLoss(input: PolicyLossInput, options: PolicyLossOptions = {}): PolicyLoss {
  const { low, high } = clipBounds(options);
  const { logprobs, oldLogprobs, advantages, mask } = input;
  const turns = input.turns ?? maskRows(mask).map(turnsOf);
  const places = turnPlaces(turns, Math.max(1, ...turns.map(last)));
  const logRatio: Tensor = logprobs.sub(oldLogprobs);
  const fixed: Tensor = detached(logRatio).mul(mask);
  const sums = sumByTurn(fixed, places);
  const sizes = sumByTurn(mask, places);
  const means = sums.div<tf.Tensor2D>(tf.maximum(sizes, 1));
  const moving: Tensor = logprobs.sub(detached(logprobs));
  const ratio: Tensor = tf
    .minimum(spreadByTurn(means, places), largestLogRatio)
    .add<Tensor>(moving)
    .exp();
  const unclipped: Tensor = ratio.mul(advantages).neg();
  const clipped: Tensor = ratio.clipByValue(low, high).mul(advantages).neg();
  return {
    loss: totalOf("gspo_turn", evenMaximum(unclipped, clipped), input, options),
    metrics: {
      ...figures(input, logRatio, { clipped: clipped.greater(unclipped) }),
      ...spreadOfTurns(sums, sizes),
    },
  };
}

const last = (turns: ArrayLike<number>): number =>
  Array.from(turns).reduce((a, b) => Math.max(a, b), 0);

/**
 * How evenly a row's turns moved: the entropy of a softmax of their shares in the row's log ratio, over
 * its largest; 0 for a single turn, and where the row as a whole did not move.
 */
function spreadOfTurns(sums: tf.Tensor2D, sizes: tf.Tensor2D): Record<string, Tensor> {
  const there = sizes.greater(0).cast("float32");
  const count: Tensor = there.sum(-1, true);
  const whole: Tensor = sums.sum(-1, true);
  const counts = whole.notEqual(0).logicalAnd(count.greater(1)).cast("float32");
  const share: Tensor = sums.div(tf.where(whole.equal(0), tf.onesLike(whole), whole));
  const masked: Tensor = share.sub(tf.sub<Tensor>(1, there).mul(1e30));
  const p: Tensor = tf.softmax(masked, -1);
  const entropy: Tensor = p.mul(p.add(1e-10).log()).sum(-1, true).neg();
  const largest: Tensor = tf.maximum(count, 2).log();
  return {
    turn_kl_entropy: entropy.div<Tensor>(largest).mul<Tensor>(counts).mean(),
    single_turn_count: count.equal(1).cast("float32").sum(),
  };
}

import { checkArguments } from "../../../../common/options/check-arguments.js";
import type { Random } from "../../../base/random/random.js";
import { detached } from "../../../tensor/detached.js";
import { clip, either, evenMaximum, evenMinimum, withoutMasked } from "../../../tensor/extremum.js";
import { tf } from "../../../tensor/tf.js";
import { maskedTensorMean, type Tensor } from "./aggregate.js";
import type { LossSettings } from "./options.js";
import { countedTurns, turnsOf, widestLogRatio } from "./token-rule.js";

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
  /**
   * ln p at the sampler, for the losses that ask for it. Default: `oldLogprobs`, of a sampler that is the policy
   * before the update.
   */
  sampledLogprobs?: Tensor;
  /** Updates by which its policy is older than the one that is trained; -1: unknown. */
  ages?: Tensor;
  /** What a correction for another sampler multiplies the token losses by. */
  rolloutWeights?: Tensor;
  /** Those weights are of trajectories: each token has its trajectory's. */
  wholeWeights?: boolean;
  /** What `prompt-mean` multiplies each row's tokens by (`promptScales`). */
  rowScales?: readonly number[];
  /**
   * The number of each token's turn, from 1; 0 in none. For the losses by turns; by default the runs of
   * ones in the mask.
   */
  turns?: readonly ArrayLike<number>[];
  /**
   * One draw per token of the mask at least, [tokens]: where a loss draws candidates, the
   * nth of them gets the nth draw and the greatest are taken. Default: those of `Random.from(0)`.
   */
  draws?: Tensor;
}

/**
 * The door of every loss: an input whose tensors have 0 wherever the mask has, whatever stood there. So a
 * loss need not ask what a masked token has: its number reaches no loss, gradient or figure. With
 * `referenceNaN` the input stays as it is, as in the reference.
 */
export function clearMasked<T extends { mask: Tensor }>(
  input: T,
  { referenceNaN = false }: Pick<LossSettings, "referenceNaN">,
): T {
  if (referenceNaN) return input;
  const { mask } = input;
  const cleared: Record<string, unknown> = {};
  for (const [name, value] of Object.entries<unknown>({ ...input })) {
    if (value === mask || !(value instanceof tf.Tensor)) continue;
    if (value.shape.join() === mask.shape.join()) cleared[name] = withoutMasked(value, mask);
  }
  return { ...input, ...cleared };
}

/** A scalar with the reference's figures beside it. */
export interface PolicyLoss {
  loss: Tensor;
  /** Scalars; the caller disposes of them. */
  metrics: { pg_clipfrac: Tensor; ppo_kl: Tensor; pg_clipfrac_lower: Tensor } & Readonly<
    Record<string, Tensor>
  >;
  /** 1 on the tokens that a loss picked out of the batch, where it does so. */
  chosen?: Tensor;
}

/** How much one deviation of entropy changes an advantage; a literal in the reference. */
const entropyWeight = 0.2;

/**
 * AEPO's entropy-aware advantage: A (1 + 0.2 z), with z the token's entropy standardised over the valid
 * tokens of the batch. Detached: it weighs the gradient and takes part in none.
 *
 * With fewer than two valid tokens there is no deviation and the factor is 1; the reference gives NaN,
 * which `singleToken: "nan"` reproduces.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { entropyAwareAdvantage } from "arpo-lab/experimental/learn";
 * import { tf } from "arpo-lab/model";
 *
 * const mask = tf.ones([1, 2]);
 * const shaped = entropyAwareAdvantage(tf.ones([1, 2]), tf.tensor2d([[0, 2]]), mask).dataSync();
 * assert.ok(shaped[0] < 1 && shaped[1] > 1);
 * ```
 */
export function entropyAwareAdvantage(
  advantages: Tensor,
  entropies: Tensor,
  mask: Tensor,
  { singleToken = "one" }: { singleToken?: "one" | "nan" } = {},
): Tensor {
  checkArguments(
    "weigh advantages",
    { advantages, entropies, mask },
    { advantages: "tensor", entropies: "tensor", mask: "tensor" },
  );
  const own = clearMasked({ advantages, entropies: detached(entropies), mask }, {});
  const fixed = own.entropies;
  const atLeast = (least: number, x: Tensor) => (singleToken === "one" ? tf.maximum(x, least) : x);
  const count = mask.sum();
  // No valid token: a mean of 0, in the reference too, which then leaves the advantages alone.
  const centred = fixed.sub(fixed.mul(mask).sum().div(tf.maximum(count, 1)));
  const variance: Tensor = centred
    .square()
    .mul(mask)
    .sum()
    .div(atLeast(1, count.sub(1)));
  const deviation: Tensor = variance.sqrt();
  const width = tf.where(deviation.equal(0), tf.onesLike(deviation), deviation);
  return own.advantages.mul(centred.div(width).mul(entropyWeight).add(1));
}

/** ln of the ratio, bounded so that it cannot overflow. */
function boundedLogRatio({ logprobs, oldLogprobs }: PolicyLossInput): Tensor {
  return logprobs.sub<Tensor>(oldLogprobs).clipByValue(-widestLogRatio, widestLogRatio);
}

/** The figures that every loss reports: shares of the tokens, and how far the policy moved. */
function figures(
  { mask }: PolicyLossInput,
  logRatio: Tensor,
  { clipped, lower }: { clipped?: Tensor; lower?: Tensor } = {},
): PolicyLoss["metrics"] {
  const share = (condition: Tensor | undefined): Tensor =>
    condition ? maskedTensorMean(condition.cast("float32"), mask) : tf.scalar(0);
  return {
    pg_clipfrac: share(clipped),
    ppo_kl: maskedTensorMean(logRatio.neg(), mask),
    pg_clipfrac_lower: share(lower),
  };
}

/**
 * 1 on the entries of the greatest keys, at most `count` of them, among those that are candidates; of
 * equal keys the first is taken. All by tensors, so that nothing is read back from a device.
 */
function greatest(keys: Tensor, candidates: Tensor, count: Tensor): Tensor {
  const flat: Tensor = tf
    .where(candidates.cast("bool"), keys, tf.onesLike(keys).mul(-1e30))
    .reshape([-1]);
  const all = flat.shape[0]!;
  const { indices } = tf.topk(flat as tf.Tensor1D, all);
  const taken = tf.range(0, all).less(count).cast("float32");
  const spread: Tensor = tf.scatterND(indices.reshape([all, 1]).cast("int32"), taken, [all]);
  return spread.reshape(keys.shape).mul(candidates.cast("float32"));
}

/** How many tokens a share of the batch is: one at least. */
function shareOf(tokens: Tensor, share: number): Tensor {
  return tf.maximum(tokens.mul(share).floor(), 1);
}

/** A draw per token, for a loss that takes some of them at random. */
export function drawsOf(random: Random, tokens: number): Tensor {
  return tf.tensor1d(Array.from({ length: tokens }, () => random.uniform()));
}

/** The turns of an input's sequences. */
function turnNumbers({ turns, mask }: PolicyLossInput): readonly ArrayLike<number>[] {
  if (turns) return turns;
  const [rows, time] = mask.shape as [number, number];
  const flat = mask.dataSync() as Float32Array;
  return Array.from({ length: rows }, (_, r) => turnsOf(flat.subarray(r * time, (r + 1) * time)));
}

/** Which turn each token is in, [rows, turns, tokens], of the turns 1 to `count`. */
function turnPlaces(turns: readonly ArrayLike<number>[], count = countedTurns): tf.Tensor3D {
  const time = turns[0]?.length ?? 0;
  const places = new Float32Array(turns.length * count * time);
  turns.forEach((row, r) => {
    for (let t = 0; t < row.length; t++) {
      const turn = row[t]!;
      if (turn >= 1 && turn <= count) places[(r * count + turn - 1) * time + t] = 1;
    }
  });
  return tf.tensor3d(places, [turns.length, count, time]);
}

/** The sum of each turn's values, [rows, turns]. */
function sumByTurn(values: Tensor, places: tf.Tensor3D): tf.Tensor2D {
  return tf.matMul(places, values.expandDims(2) as tf.Tensor3D).squeeze([2]);
}

/** What each turn has, laid on its tokens; 0 on the others, [rows, tokens]. */
function spreadByTurn(values: tf.Tensor2D, places: tf.Tensor3D): tf.Tensor2D {
  return tf.matMul<tf.Tensor3D>(values.expandDims(1), places).squeeze([1]);
}

/**
 * What the tensor forms of losses compute with. They are given it rather than import it, so that a page,
 * which has no tensors, can carry a loss's definition for its rule and formula.
 */
export const tensorOps = {
  ...{ tf, detached, clip, either, evenMaximum, evenMinimum },
  ...{ maskedTensorMean, entropyAwareAdvantage },
  ...{ boundedLogRatio, figures, greatest, shareOf, drawsOf },
  ...{ turnNumbers, turnPlaces, sumByTurn, spreadByTurn },
};
export type TensorOps = typeof tensorOps;

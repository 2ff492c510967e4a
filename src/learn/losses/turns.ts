import type { Tensor } from "./base/aggregate.js";
import { defineLoss, type LossOps } from "./base/definition.js";
import * as f from "./base/formula.js";
import { clipBounds, type LossSettings } from "./base/options.js";
import { wideForMeans } from "./gspo.js";
import * as rule from "./base/token-rule.js";
import { countedTurns, dualClippedOutcome, largestLogRatio, perRow } from "./base/token-rule.js";

/** The mean log ratio of each turn of a sequence, and how many tokens it has. */
function turnMeans({ logprobs, oldLogprobs, mask }: rule.LossRow, widest = Infinity) {
  const turns = rule.turnsOf(mask);
  const sums: number[] = [];
  const sizes: number[] = [];
  turns.forEach((turn, t) => {
    if (turn === 0) return;
    const log = rule.clamp(logprobs[t]! - oldLogprobs[t]!, -widest, widest);
    sums[turn] = (sums[turn] ?? 0) + log;
    sizes[turn] = (sizes[turn] ?? 0) + 1;
  });
  return { turns, sizes, means: sums.map((sum, turn) => sum / sizes[turn]!) };
}

const last = (turns: ArrayLike<number>): number =>
  Array.from(turns).reduce((a, b) => Math.max(a, b), 0);

/**
 * How evenly a sequence's turns moved: the entropy of a softmax of their shares in the sequence's log
 * ratio, over its largest; 0 for a single turn, and where the sequence as a whole did not move.
 */
function spreadOfTurns(sums: Tensor, sizes: Tensor, { tf }: LossOps): Record<string, Tensor> {
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

/**
 * AT2PO's loss: one ratio per turn, the geometric mean of its tokens', clipped as a whole. Forward it is
 * the turn's on every token; backward it moves with the token's own log-probability.
 */
export const gspoTurn = defineLoss({
  name: "gspo_turn",
  title: "AT2PO's GSPO by turns",
  aggregation: "seq-mean-token-mean",
  ownAggregation: true,
  rule: "older",
  clips: "ratio",
  ratioOf: "turn",
  asks: "turns",
  presets: { at2po: { clipRatioLow: 3e-3, clipRatioHigh: 4e-3 } },
  views: {
    at2po: {
      label: "AT2PO's turns",
      summary:
        "One ratio for a turn, clipped narrowly; only the loss of AT2PO, on GRPO's advantages.",
    },
  },

  tensors(input, options, ops) {
    const { tf, detached, sumByTurn } = ops;
    const { low, high } = clipBounds(options);
    const { logprobs, oldLogprobs, advantages, mask } = input;
    const turns = ops.turnNumbers(input);
    const places = ops.turnPlaces(turns, Math.max(1, ...turns.map(last)));
    const logRatio: Tensor = logprobs.sub(oldLogprobs);
    const fixed: Tensor = detached(logRatio).mul(mask);
    const [sums, sizes] = [sumByTurn(fixed, places), sumByTurn(mask, places)];
    const means = sums.div<typeof sums>(tf.maximum(sizes, 1));
    const moving: Tensor = logprobs.sub(detached(logprobs));
    const ratio: Tensor = tf
      .minimum(ops.spreadByTurn(means, places), largestLogRatio)
      .add<Tensor>(moving)
      .exp();
    const unclipped: Tensor = ratio.mul(advantages).neg();
    const clipped: Tensor = ops.clip(ratio, low, high).mul(advantages).neg();
    return {
      loss: ops.total(ops.evenMaximum(unclipped, clipped)),
      metrics: {
        ...ops.figures(input, logRatio, { clipped: clipped.greater(unclipped) }),
        ...spreadOfTurns(sums, sizes, ops),
      },
    };
  },

  share(rows) {
    const found = perRow(rows, (row) => turnMeans(row));
    return (r, t) => {
      const { turns, means } = found(r);
      const turnLogRatio = means[turns[t]!] ?? 0;
      const ratio = Math.exp(Math.min(largestLogRatio, turnLogRatio));
      return { turn: turns[t]!, turnLogRatio, ratio };
    };
  },
  token: ({ advantage, ratio: own }, { ratio = own }, options) =>
    rule.clippedOutcome(ratio, advantage, options),

  formula: () => [
    f.meanRatio("turn", "gspoTurn.tensors.means"),
    f.clipLine("gspoTurn.tensors.clipped"),
    f.tokenLoss(f.candidates(f.given), "gspoTurn.tensors.loss"),
  ],
  gradient: { code: ["clippedOutcome.return"] },
  advice: (run) => wideForMeans("gspo_turn", run),
});

/** The slope that each turn's tokens have together, as the gradient goes through their mean. */
function turnSlopes(row: rule.LossRow, options: LossSettings) {
  const { turns, sizes, means } = turnMeans(row, rule.widestLogRatio);
  const slopes = sizes.map(() => 0);
  turns.forEach((turn, t) => {
    if (turn === 0 || turn > countedTurns) return;
    const ratio = Math.exp(means[turn]!);
    const { weight, used } = dualClippedOutcome(ratio, row.advantages[t]!, options);
    const slope = (weight * used * (row.weights?.[t] ?? 1)) / sizes[turn]!;
    slopes[turn]! -= slope;
  });
  return { turns, means, slopes };
}

/**
 * Tree-GRPO's loss by turns: a turn's ratio is the geometric mean of its tokens', with the gradient
 * through that mean, under PPO's dual clip, for a sequence's first nine turns.
 */
export const turn = defineLoss({
  name: "turn",
  title: "Tree-GRPO's turn ratios",
  aggregation: "token-mean",
  rule: "older",
  clips: "ratio",
  ratioOf: "turn",
  readsC: true,
  asks: "turns",
  views: {
    turn: {
      label: "Tree-GRPO's turns",
      summary: "One ratio for a turn with the gradient through its mean, under PPO's dual clip.",
    },
  },

  tensors(input, options, ops) {
    const { tf, sumByTurn, spreadByTurn, maskedTensorMean } = ops;
    const { low, high, c } = clipBounds(options);
    const { advantages, mask } = input;
    const places = ops.turnPlaces(ops.turnNumbers(input));
    const logRatio = ops.boundedLogRatio(input);
    const sums = sumByTurn(logRatio.mul(mask), places);
    const means = sums.div<typeof sums>(tf.maximum(sumByTurn(mask, places), 1));
    const moved = spreadByTurn(means, places).mul<Tensor>(mask);
    const ratio: Tensor = spreadByTurn(means.exp(), places).mul(mask);
    const unclipped: Tensor = ratio.mul(advantages).neg();
    const clipped: Tensor = ops.clip(ratio, low, high).mul(advantages).neg();
    const worse = ops.evenMaximum(unclipped, clipped);
    const cap: Tensor = advantages.mul(-c);
    const losses = ops.either(advantages.less(0), ops.evenMinimum(cap, worse), worse);
    const mean = (values: Tensor): Tensor =>
      options.referenceNaN
        ? values.mul(mask).sum().div(mask.sum())
        : maskedTensorMean(values, mask);
    return {
      // Tree-GRPO's token mean has no epsilon, as the newer verl's.
      loss: ops.total(losses, {
        ruleOf: (mode) => (mode === "token-mean" ? "verl-0.9.1" : undefined),
      }),
      metrics: {
        pg_clipfrac: mean(clipped.greater(unclipped).cast("float32")),
        // There it is a mean over all places, with 0 on what is masked or in no counted turn.
        ppo_kl: options.referenceNaN ? moved.neg().mean() : mean(moved.neg()),
        pg_clipfrac_lower: mean(worse.greater(cap).logicalAnd(advantages.less(0)).cast("float32")),
      },
    };
  },

  share(rows, options) {
    const found = perRow(rows, (row) => turnSlopes(row, options));
    return (r, t) => {
      const { turns, means, slopes } = found(r);
      const number = turns[t]!;
      if (number > countedTurns) return { turn: number, ratio: 0 };
      const turnLogRatio = means[number] ?? 0;
      return {
        ...{ turn: number, turnLogRatio, ratio: Math.exp(turnLogRatio) },
        turnSlope: slopes[number] ?? 0,
        correction: rows[r]!.weights?.[t] ?? 1,
      };
    };
  },
  // Its gradient goes through the turn's mean, whose tokens are weighed there.
  weigh: () => () => 1,
  token({ advantage, ratio: own }, shared, options) {
    const { ratio = own, turn: number = 1, turnSlope, correction = 1 } = shared;
    const outcome = rule.weighed(dualClippedOutcome(ratio, advantage, options), correction);
    if (number > countedTurns) return { ...outcome, region: "dropped", weight: 0 };
    // Where a turn's advantages differ, its tokens are still moved alike.
    const hold = (turnSlope ?? -outcome.weight * advantage) + outcome.weight * advantage;
    return Math.abs(hold) > 1e-12 ? { ...outcome, hold } : outcome;
  },

  formula: () => [
    f.meanRatio("turn", "turn.tensors.means", "turn.tensors.ratio"),
    f.clipLine("turn.tensors.clipped"),
    ...f.dualLines(f.given, ["turn.tensors.worse"], "turn.tensors.losses"),
  ],
  gradient: { code: ["turnSlopes.slope"], hold: true },
});

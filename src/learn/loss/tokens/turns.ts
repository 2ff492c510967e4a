import { largestLogRatio } from "../token-ratio.js";
import { countedTurns, turnsOf, widestLogRatio } from "../turn-numbers.js";
import {
  clamp,
  clippedOutcome,
  dualClippedOutcome,
  type LossRow,
  perRow,
  type TokenRule,
  type TokenRuleOptions,
  weighed,
} from "./rule.js";

/** The mean log ratio of each turn of a row, and how many tokens it has. */
function turnMeans({ logprobs, oldLogprobs, mask }: LossRow, widest = Infinity) {
  const turns = turnsOf(mask);
  const sums: number[] = [];
  const sizes: number[] = [];
  turns.forEach((turn, t) => {
    if (turn === 0) return;
    const log = clamp(logprobs[t]! - oldLogprobs[t]!, -widest, widest);
    sums[turn] = (sums[turn] ?? 0) + log;
    sizes[turn] = (sizes[turn] ?? 0) + 1;
  });
  return { turns, sizes, means: sums.map((sum, turn) => sum / sizes[turn]!) };
}

/** AT2PO's: a turn's ratio on each of its tokens, clipped on both sides alone. */
export const gspoTurn: TokenRule = {
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
    clippedOutcome(ratio, advantage, options),
};

/** The slope that each turn's tokens have together, as the gradient goes through their mean. */
function turnSlopes(row: LossRow, options: TokenRuleOptions) {
  const { turns, sizes, means } = turnMeans(row, widestLogRatio);
  const slopes = sizes.map(() => 0);
  turns.forEach((turn, t) => {
    if (turn === 0 || turn > countedTurns) return;
    const { weight, used } = dualClippedOutcome(
      Math.exp(means[turn]!),
      row.advantages[t]!,
      options,
    );
    slopes[turn]! -= (weight * used * (row.weights?.[t] ?? 1)) / sizes[turn]!;
  });
  return { turns, means, slopes };
}

/** Tree-GRPO's: the same with the dual clip, for its first nine turns. */
export const turn: TokenRule = {
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
    const outcome = weighed(dualClippedOutcome(ratio, advantage, options), correction);
    if (number > countedTurns) return { ...outcome, region: "dropped", weight: 0 };
    // Where a turn's advantages differ, its tokens are still moved alike.
    const hold = (turnSlope ?? -outcome.weight * advantage) + outcome.weight * advantage;
    return Math.abs(hold) > 1e-12 ? { ...outcome, hold } : outcome;
  },
};

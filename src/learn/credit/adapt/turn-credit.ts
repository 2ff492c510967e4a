import type { CreditSpan, CreditSum } from "../credit.js";
import { giGpo } from "../gigpo.js";
import { mtGrpo } from "../mt-grpo.js";
import type { CreditOptions } from "../options.js";
import { turnBaseline } from "../turn-baseline.js";
import { type CreditBatch, type CreditRow, prefixNames } from "./rows.js";

/** What each turn of each row earned; rows of which nothing is said earned nothing. */
function turnRewards(rows: readonly CreditRow[], estimator: string): number[][] {
  if (!rows.some(({ scored }) => scored.turnRewards)) {
    throw new TypeError(
      `Cannot use ${estimator}: turns must have rewards, got none; a tool may return one with its result ({ text, ok, reward }), or a reward say them (turns)`,
    );
  }
  return rows.map(({ scored, turns }) => [...(scored.turnRewards ?? turns.map(() => 0))]);
}

/** Each turn of a row under its own sum. */
function turnSpans({ turns }: CreditRow, sums: readonly CreditSum[]): CreditSpan[] {
  return turns.flatMap(({ start, end }, i) => (end > start ? [{ start, end, sum: sums[i]! }] : []));
}

export function mtGrpoSpans(batch: CreditBatch, options: CreditOptions["mtGrpo"]): CreditSpan[][] {
  const { rows, mask, groups } = batch;
  const rewards = turnRewards(rows, "mt_grpo");
  const input = {
    ...{ mask, groups },
    turnRewards: rewards.map(([first = 0]) => first),
    outcomes: rows.map(({ reward }) => reward),
    hasResult: rows.map(({ scored }) => scored.trajectory.written.includes(0)),
  };
  return mtGrpo(input, options).spans.map((spans) => [...spans]);
}

export function giGpoSpans(
  { rows }: CreditBatch,
  { observe, ...options }: NonNullable<CreditOptions["gigpo"]> = {},
): CreditSpan[][] {
  const steps = rows.flatMap((one, trajectory) => {
    const earned = one.scored.turnRewards ?? [];
    const whole = one.reward + earned.reduce((sum, r) => sum + r, 0);
    return one.turns.map((turn, i) => ({
      trajectory,
      group: one.group,
      whole,
      // The outcome comes with the last step, as an environment's does.
      reward: (earned[i] ?? 0) + (i === one.turns.length - 1 ? one.reward : 0),
      anchor: observe ? observe(one.scored, i) : (turn.result?.text ?? ""),
    }));
  });
  const { sums } = giGpo(
    {
      episodeRewards: steps.map(({ whole }) => whole),
      stepRewards: steps.map(({ reward }) => reward),
      groups: steps.map(({ group }) => group),
      trajectories: steps.map(({ trajectory }) => trajectory),
      anchors: steps.map(({ anchor }) => anchor),
    },
    options,
  );
  let at = 0;
  return rows.map((row) => turnSpans(row, sums.slice(at, (at += row.turns.length))));
}

export function turnBaselineSpans(
  { rows, groups, mask }: CreditBatch,
  { outcome = true, ...options }: NonNullable<CreditOptions["turnBaseline"]> = {},
): CreditSpan[][] {
  const rewards = turnRewards(rows, "turn_baseline");
  if (outcome)
    rewards.forEach((turns, trajectory) => (turns[turns.length - 1]! += rows[trajectory]!.reward));
  const name = prefixNames(rows);
  // The beginning of a row up to the first token that the policy wrote in a turn.
  const upTo = (trajectory: number, turn: number) => {
    const { start = rows[trajectory]!.length, end = start } = rows[trajectory]!.turns[turn] ?? {};
    let first = start;
    while (first < end && !mask[trajectory]![first]) first++;
    return first < end ? name(trajectory, first + 1) : undefined;
  };
  const names = rows.map(({ turns }, trajectory) => turns.map((_, turn) => upTo(trajectory, turn)));
  const sums = turnBaseline(rewards, groups, {
    ...options,
    shared: (trajectory, other, turn) =>
      names[trajectory]![turn] !== undefined && names[trajectory]![turn] === names[other]![turn],
  });
  return rows.map((row, i) => turnSpans(row, sums[i]!));
}

import { choice, flag, rulesOf, type ValuesOf } from "../../../common/options/setting.js";
import { prefixNames } from "./adapt/credit-trajectories.js";
import { turnRewards, turnSpans } from "./adapt/prompt-trees.js";
import { defineEstimator, needsTurnRewards } from "./definition.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, type OptionRules } from "../../../common/options/check-options.js";
import { byGroup } from "./base/estimator.js";
import { type CreditSum, short } from "./credit.js";

export const turnBaselines = ["padded", "leave-one-out", "turn-index"] as const;

const turnBaselineSettings = {
  /**
   * What the reward still to come is compared with: `padded`, the mean of the prompt's trajectories, those that
   * have ended counting 0; `leave-one-out`, that of the other trajectories, which is unbiased;
   * `turn-index`, the means of the turns that the trajectory has itself, over the trajectories that reached
   * them, which is **biased**: a trajectory that goes on pays for the mean of every turn it wins.
   */
  baseline: choice(turnBaselines, "padded", "turn-index is biased"),
};

export interface TurnBaselineOptions extends Partial<ValuesOf<typeof turnBaselineSettings>> {
  /** For `leave-one-out`: whether two trajectories have a turn's tokens in common; those are no baseline. */
  shared?: (trajectory: number, other: number, turn: number) => boolean;
}

const turnBaselineRules: OptionRules<TurnBaselineOptions> = {
  ...rulesOf(turnBaselineSettings),
  shared: "function?",
};

const sumFrom = (rewards: readonly number[], turn: number) =>
  rewards.slice(turn).reduce((sum, r) => sum + r, 0);

/**
 * Per-turn baselines: what each turn of each trajectory gets, from the rewards of the turns.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { turnBaseline } from "arpo-lab/experimental/family";
 *
 * // Every turn earns 1; the second trajectory goes on for longer.
 * const rewards = [[1], [1, 1, 1]];
 * const first = (baseline: "padded" | "turn-index") =>
 *   turnBaseline(rewards, [0, 0], { baseline }).map(([turn]) =>
 *     turn.terms.reduce((sum, { value }) => sum + value, 0),
 *   );
 * assert.deepEqual(first("padded"), [-1, 1]); // going on is better
 * assert.deepEqual(first("turn-index"), [0, 0]); // the biased one does not see it
 * ```
 */
export function turnBaseline(
  rewards: readonly (readonly number[])[],
  groups: readonly (string | number)[],
  options: TurnBaselineOptions = {},
): CreditSum[][] {
  checkArguments("estimate advantages", { rewards, groups }, { rewards: "list", groups: "list" });
  checkOptions("estimate advantages", options, turnBaselineRules);
  const { baseline = "padded", shared = () => false } = options;
  const out: CreditSum[][] = rewards.map(() => []);
  for (const trajectories of byGroup(groups)) {
    const mean = (turn: number, of: readonly number[]) =>
      of.reduce((sum, trajectory) => sum + sumFrom(rewards[trajectory]!, turn), 0) /
      Math.max(1, of.length);
    for (const trajectory of trajectories) {
      const own = rewards[trajectory]!;
      out[trajectory] = own.map((_, turn) => {
        const compared = (name: string, value: number, from: string): CreditSum => ({
          terms: [
            { name: "reward from this turn on", value: sumFrom(own, turn) },
            { name, value: -value, from },
          ],
          factors: [],
        });
        if (baseline === "turn-index") {
          const means = own.slice(turn).map((__, k) => {
            const reached = trajectories.filter((other) => rewards[other]!.length > turn + k);
            return reached.reduce((sum, o) => sum + rewards[o]![turn + k]!, 0) / reached.length;
          });
          const all = means.reduce((sum, m) => sum + m, 0);
          return compared("means of the turns it has", all, `-(${means.map(short).join(" + ")})`);
        }
        const others =
          baseline === "padded"
            ? trajectories
            : trajectories.filter(
                (other) => other !== trajectory && !shared(trajectory, other, turn),
              );
        const name =
          baseline === "padded" ? "mean of the prompt's trajectories" : "mean of the others";
        return compared(name, mean(turn, others), `over ${others.length} trajectories`);
      });
    }
  }
  return out;
}

export const turnBaselineEstimator = defineEstimator()({
  name: "turn_baseline",
  meaning: "reward from the turn on, against the prompt's trajectories",
  formula: "return from the turn on - a baseline per turn",
  settings: {
    ...turnBaselineSettings,
    outcome: flag(true, "The outcome counts as the last turn's"),
  },
  besides: {},
  advice: (run, { baseline }) => [
    needsTurnRewards(run),
    ...(baseline === "turn-index"
      ? [
          {
            id: "biased-baseline",
            status: "warning" as const,
            found:
              "turn-index is biased: going on costs a trajectory the mean of every turn it wins, which shortens trajectories",
            fix: "lab.credit.turn_baseline.baseline=padded",
          },
        ]
      : []),
  ],
  spans({ trajectories, groups, mask }, { outcome = true, ...options }) {
    const rewards = turnRewards(trajectories, "turn_baseline");
    if (outcome)
      rewards.forEach(
        (turns, trajectory) => (turns[turns.length - 1]! += trajectories[trajectory]!.reward),
      );
    const name = prefixNames(trajectories);
    // The beginning of a trajectory up to the first token that the policy wrote in a turn.
    const upTo = (trajectory: number, turn: number) => {
      const { start = trajectories[trajectory]!.length, end = start } =
        trajectories[trajectory]!.turns[turn] ?? {};
      let first = start;
      while (first < end && !mask[trajectory]![first]) first++;
      return first < end ? name(trajectory, first + 1) : undefined;
    };
    const names = trajectories.map(({ turns }, trajectory) =>
      turns.map((_, turn) => upTo(trajectory, turn)),
    );
    const sums = turnBaseline(rewards, groups, {
      ...options,
      shared: (trajectory, other, turn) =>
        names[trajectory]![turn] !== undefined && names[trajectory]![turn] === names[other]![turn],
    });
    return trajectories.map((trajectory, i) => turnSpans(trajectory, sums[i]!));
  },
});

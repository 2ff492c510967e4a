import { checkOptions } from "../../../common/options/check-options.js";
import { defined } from "../../../common/options/defined.js";
import { rulesOf, type ValuesOf, valuesOf, weight } from "../../../common/options/setting.js";
import type { Rows } from "../masked.js";
import { byGroup, mean } from "./base/estimator.js";
import { Credit, type CreditTerm, short, wholeTrajectory } from "./credit.js";
import { defineEstimator } from "./definition.js";

export interface LengthPenaltyInput {
  scores: readonly number[];
  mask: Rows;
  groups: readonly (string | number)[];
  /** What each trajectory is long in: tokens that the model wrote, all others, turns. */
  lengths: readonly Lengths[];
}

const measures = ["output", "input", "turns"] as const;
type Lengths = Readonly<Record<(typeof measures)[number], number>>;

const settings = {
  /** What the tokens count that the model wrote. Default: 1. */
  output: weight(1, "What the tokens count that the model wrote"),
  /** What all other tokens count, the prompt's among them. Default: 0.1. */
  input: weight(0.1, "What all other tokens count, the prompt's among them"),
  /** What turns count. Default: 0.1. */
  turns: weight(0.1, "What turns count"),
};

export type LengthPenaltyOptions = Partial<ValuesOf<typeof settings>>;

const words = { output: "tokens written", input: "tokens read", turns: "turns" } as const;

/**
 * prime-rl's length penalty: from each score goes the mean score of its group times what the trajectory's lengths are
 * of the group's greatest; the rest is centred. Where nothing is solved, length costs nothing.
 */
export function lengthPenalty(
  { scores, mask, groups, lengths }: LengthPenaltyInput,
  options: LengthPenaltyOptions = {},
): Credit {
  checkOptions("estimate advantages", options, rulesOf(settings));
  const weights: Lengths = { ...valuesOf(settings), ...defined(options) };
  const terms: CreditTerm[][] = [];
  for (const own of byGroup(groups)) {
    const centre = mean(own.map((i) => scores[i]!));
    const penalties = own.map((i) =>
      measures.map((what): CreditTerm => {
        const most = Math.max(1, ...own.map((other) => lengths[other]![what]));
        const share = lengths[i]![what] / most;
        return {
          name: words[what],
          value: -centre * weights[what] * share,
          from: `-${short(centre)} * ${short(weights[what])} * ${lengths[i]![what]} / ${most}`,
        };
      }),
    );
    const left = own.map((i, k) =>
      penalties[k]!.reduce((sum, { value }) => sum + value, scores[i]!),
    );
    const rest: CreditTerm = {
      name: "mean of the prompt's trajectories, less their lengths",
      value: -mean(left),
    };
    own.forEach(
      (i, k) => (terms[i] = [{ name: "reward", value: scores[i]! }, ...penalties[k]!, rest]),
    );
  }
  return new Credit(
    terms.map((list, i) => wholeTrajectory(mask, i, { terms: list, factors: [] })),
    mask,
  );
}

export const lengthPenaltyEstimator = defineEstimator()({
  name: "length_penalty",
  meaning: "the trajectory against the prompt's trajectories, long ones getting less",
  formula:
    "R' - group mean of R'; R' = score - group mean · (w·written / most + 0.1·read / most + 0.1·turns / most)",
  settings,
  besides: {},
  spans({ trajectories, mask, groups }, options) {
    const lengths = trajectories.map(({ scored: { trajectory }, turns }, i) => {
      const output = Array.from(mask[i]!).reduce((n, m) => n + m, 0);
      const input = trajectory.prompt.length + trajectory.tokens.length - output;
      return { output, input, turns: turns.length };
    });
    const scores = trajectories.map(({ reward }) => reward);
    return lengthPenalty({ scores, mask, groups, lengths }, options).spans;
  },
});

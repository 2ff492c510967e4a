import { figure, rulesOf, type ValuesOf } from "../../../common/options/setting.js";
import { turnRewards } from "./adapt/prompt-trees.js";
import { defineEstimator, needsTurnRewards } from "./definition.js";
import {
  checkOptions,
  notNegative,
  type OptionRules,
} from "../../../common/options/check-options.js";
import type { Rows } from "../masked.js";
import {
  Credit,
  type CreditSpan,
  type CreditTerm,
  normTerm,
  perGroup,
  sampleNorm,
} from "./credit.js";

export interface MtGrpoInput {
  mask: Rows;
  groups: readonly (string | number)[];
  /** The reward of each trajectory's first turn, and of its outcome. */
  turnRewards: readonly number[];
  outcomes: readonly number[];
  /** Whether a tool answered in the trajectory. */
  hasResult: readonly boolean[];
  /** Default: the sum of both. */
  combined?: readonly number[];
}

const mtGrpoSettings = {
  /** What the turn's advantage counts beside the outcome's. Default: 1. */
  turnCoefficient: figure(1, "What the turn's advantage counts"),
};

export interface MtGrpoOptions extends Partial<ValuesOf<typeof mtGrpoSettings>> {
  epsilon?: number;
}

const mtGrpoRules: OptionRules<MtGrpoOptions> = {
  ...rulesOf(mtGrpoSettings),
  epsilon: notNegative,
};

/**
 * MT-GRPO's credit, for two turns as in its code: tokens before the first tool result get the outcome's
 * advantage and the first turn's, those after it the outcome's; a trajectory without a result gets the
 * advantage of both rewards together. Every position is written, padding too: the loss masks.
 */
export function mtGrpo(input: MtGrpoInput, options: MtGrpoOptions = {}): Credit {
  checkOptions("estimate advantages", options, mtGrpoRules);
  const { turnCoefficient = 1, epsilon = 1e-4 } = options;
  const { mask, groups, turnRewards, outcomes, hasResult } = input;
  const combined = input.combined ?? outcomes.map((r, i) => r + turnRewards[i]!);
  const terms = (name: string, values: readonly number[]): CreditTerm[] => {
    const norms = new Map(
      [...perGroup(groups, values)].map(([group, pool]) => [group, sampleNorm(pool)]),
    );
    return values.map((v, i) => normTerm(name, v, norms.get(groups[i]!)!, epsilon));
  };
  const turn = terms("the first turn", turnRewards);
  const outcome = terms("the outcome", outcomes);
  const both = terms("turn and outcome", combined);
  const spans = mask.map((own, trajectory): CreditSpan[] => {
    const whole = (term: CreditTerm, start = 0, end = own.length) => ({
      ...{ start, end },
      sum: { terms: [term], factors: [] },
    });
    if (!hasResult[trajectory]) return [whole(both[trajectory]!)];
    let change = 1;
    while (change < own.length && own[change] === own[change - 1]) change++;
    if (!own[0]) return [whole(outcome[trajectory]!)];
    const scaled = { ...turn[trajectory]!, value: turnCoefficient * turn[trajectory]!.value };
    return [
      { start: 0, end: change, sum: { terms: [outcome[trajectory]!, scaled], factors: [] } },
      whole(outcome[trajectory]!, change),
    ];
  });
  return new Credit(
    spans,
    mask.map((trajectory) => new Uint8Array(trajectory.length).fill(1)),
  );
}

export const mtGrpoEstimator = defineEstimator<{ epsilon?: number }>()({
  name: "mt_grpo",
  meaning: "the outcome; before the first answer the turn too",
  formula: "outcome advantage + first turn's advantage before the first result; outcome after it",
  settings: mtGrpoSettings,
  besides: { epsilon: notNegative },
  advice: (run) => [needsTurnRewards(run)],
  spans(batch, options) {
    const { trajectories, mask, groups } = batch;
    const rewards = turnRewards(trajectories, "mt_grpo");
    const input = {
      ...{ mask, groups },
      turnRewards: rewards.map(([first = 0]) => first),
      outcomes: trajectories.map(({ reward }) => reward),
      hasResult: trajectories.map(({ scored }) => scored.trajectory.written.includes(0)),
    };
    return mtGrpo(input, options).spans.map((spans) => [...spans]);
  },
});

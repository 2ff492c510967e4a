import { checkArguments } from "../../../../common/options/check-arguments.js";
import { type Advantages, type Outcome, outcome, scores } from "../base/estimator.js";
import { inGroups } from "../base/in-groups.js";
import { definePlainEstimator } from "../definition.js";

/**
 * OPO: each trajectory's score against its group's mean weighted by length, which lowers the variance most
 * when long answers carry more gradient.
 * @param input the reward and mask of every token, and the group of every trajectory
 */
export function opo(input: Outcome): Advantages {
  checkArguments("estimate advantages", { input }, { input: { mask: "list" } });
  const length = scores(input.mask);
  return outcome(
    inGroups(input, (own, rows) => {
      if (own.length === 1) return own;
      const weighted = own.reduce((sum, score, k) => sum + length[rows[k]!]! * score, 0);
      const baseline = weighted / rows.reduce((sum, i) => sum + length[i]!, 0);
      return own.map((score) => score - baseline);
    }),
  );
}

export const opoEstimator = definePlainEstimator({
  name: "opo",
  meaning: "the trajectory against the prompt's trajectories, long ones counting more",
  formula: "score - group mean weighted by length",
  verl: true,
  advantages: opo,
  estimate: (input) => opo(input),
});

import { checkArguments } from "../../../../common/options/check-arguments.js";
import { type Advantages, mean, type Outcome, outcome, scores } from "../base/estimator.js";
import { inGroups } from "../base/in-groups.js";
import { definePlainEstimator } from "../definition.js";

/**
 * GPG: each trajectory's score less its group's mean, times the number of trajectories for each trajectory
 * that has a score at all. A group of one keeps its score.
 * @param input the reward and mask of every token, and the group of every trajectory
 */
export function gpg(input: Outcome): Advantages {
  checkArguments("estimate advantages", { input }, { input: { rewards: "list" } });
  const all = scores(input.rewards);
  const scale = all.length / Math.max(1, all.filter((s) => s !== 0).length);
  return outcome(
    inGroups(input, (own) => {
      const centre = own.length === 1 ? 0 : mean(own);
      return own.map((score) => scale * (score - centre));
    }),
  );
}

export const gpgEstimator = definePlainEstimator({
  name: "gpg",
  meaning: "the trajectory against the prompt's trajectories, by how many have a score",
  formula: "(score - group mean) · trajectories / trajectories with a score other than 0",
  verl: true,
  advantages: gpg,
  estimate: (input) => gpg(input),
});

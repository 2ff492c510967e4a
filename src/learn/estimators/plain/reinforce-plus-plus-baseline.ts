import { type Advantages, mean, type Outcome, outcome } from "../base/estimator.js";
import { inGroups } from "../base/in-groups.js";
import { masked, whiten } from "../../masked.js";
import { definePlainEstimator } from "../definition.js";

/**
 * REINFORCE++-baseline: scores less their group's mean, whitened over the batch.
 * @param input the reward and mask of every token, and the group of every trajectory
 */
export function reinforcePlusPlusBaseline(input: Outcome): Advantages {
  const centred = inGroups(input, (own) => {
    if (own.length === 1) return own;
    const centre = mean(own);
    return own.map((score) => score - centre);
  });
  return outcome(masked(whiten(centred, input.mask), input.mask));
}

export const reinforcePlusPlusBaselineEstimator = definePlainEstimator({
  name: "reinforce_plus_plus_baseline",
  meaning: "the trajectory against the prompt's trajectories, whitened over the batch",
  formula: "score - group mean, whitened over the batch",
  verl: true,
  advantages: reinforcePlusPlusBaseline,
  estimate: (input) => reinforcePlusPlusBaseline(input),
});

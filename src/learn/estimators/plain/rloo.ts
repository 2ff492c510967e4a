import { type Advantages, mean, type Outcome, outcome } from "../base/estimator.js";
import { inGroups } from "../base/in-groups.js";
import { rlooCredit } from "../credit.js";
import { definePlainEstimator } from "../definition.js";

/**
 * RLOO: each trajectory's score against the mean of the others in its group.
 * @param input the reward and mask of every token, and the group of every trajectory
 */
export function rloo(input: Outcome): Advantages {
  return outcome(
    inGroups(input, (own) => {
      const k = own.length;
      if (k === 1) return own;
      const centre = mean(own);
      return own.map((score) => (score * k) / (k - 1) - (centre * k) / (k - 1));
    }),
  );
}

export const rlooEstimator = definePlainEstimator({
  name: "rloo",
  meaning: "the trajectory against the others",
  formula: "score - mean of the others in the group",
  verl: true,
  advantages: rloo,
  estimate: (input) => rloo(input),
  credit: (input) => rlooCredit(input),
});

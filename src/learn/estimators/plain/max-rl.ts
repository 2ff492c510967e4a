import { type Advantages, mean, type Outcome, outcome } from "../base/estimator.js";
import { inGroups } from "../base/in-groups.js";
import { relativeCredit } from "../credit.js";
import { definePlainEstimator } from "../definition.js";

/**
 * MaxRL: each trajectory's score against its group's mean, relative to that mean: a prompt that is seldom solved counts
 * for more. A group of one, and one whose mean is not above 0, gets 0, as in prime-rl. In SkyRL's form a group of one
 * keeps its score, 1e-6 is added to the mean, and a mean below 0 turns every sign.
 * @param input the reward and mask of every token, and the group of every trajectory
 */
export function maxRl(
  input: Outcome,
  { form = "prime-rl" }: { form?: "prime-rl" | "skyrl" } = {},
): Advantages {
  return outcome(
    inGroups(input, (own) => {
      const centre = mean(own);
      if (form === "skyrl") {
        return own.map((score) => (own.length === 1 ? score : (score - centre) / (centre + 1e-6)));
      }
      return own.map((score) => (own.length === 1 || centre <= 0 ? 0 : (score - centre) / centre));
    }),
  );
}

export const maxRlEstimator = definePlainEstimator({
  name: "max_rl",
  meaning: "the trajectory against the prompt's trajectories, relative to their mean",
  formula: "(score - group mean) / group mean; 0 where the mean is not above 0",
  advantages: maxRl,
  estimate: (input) => maxRl(input),
  credit: (input) => relativeCredit(input),
});

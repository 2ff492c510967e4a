import { type Advantages, deviation, mean, type Outcome, outcome } from "../base/estimator.js";
import { inGroups } from "../base/in-groups.js";
import { grpoCredit } from "../credit.js";
import { definePlainEstimator } from "../definition.js";

/**
 * GRPO: each trajectory's score against its group's mean, over the group's deviation + epsilon, on every token
 * of the trajectory. A group of one keeps its score. Without `normalizeByDeviation` it is Dr. GRPO's.
 *
 * The reference forms the group's statistics in float32; here they are doubles.
 * @param input the reward and mask of every token, and the group of every trajectory
 */
export function grpo(
  input: Outcome,
  { epsilon = 1e-6, normalizeByDeviation = true } = {},
): Advantages {
  return outcome(
    inGroups(input, (own) => {
      const [centre, width] = own.length === 1 ? [0, 1] : [mean(own), deviation(own)];
      const scale = normalizeByDeviation ? width + epsilon : 1;
      return own.map((score) => (score - centre) / scale);
    }),
  );
}

export const grpoEstimator = definePlainEstimator({
  name: "grpo",
  meaning: "the trajectory against the prompt's trajectories",
  formula: "(score - group mean) / (group deviation + 1e-6)",
  verl: true,
  advantages: grpo,
  estimate: (input, { normalizeByDeviation }) => grpo(input, { normalizeByDeviation }),
  credit: (input, { normalizeByDeviation }) => grpoCredit(input, { normalizeByDeviation }),
});

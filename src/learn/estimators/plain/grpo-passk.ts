import { type Advantages, deviation, type Outcome, outcome } from "../base/estimator.js";
import { inGroups } from "../base/in-groups.js";
import { definePlainEstimator } from "../definition.js";

/**
 * GRPO for pass@k: only a group's best trajectory learns, by how much it beats the second best.
 * @param input the reward and mask of every token, and the group of every trajectory
 */
export function grpoPassAtK(
  input: Outcome,
  { epsilon = 1e-6, normalizeByDeviation = true } = {},
): Advantages {
  return outcome(
    inGroups(input, (own, rows) => {
      if (own.length < 2) {
        throw new RangeError(
          `Cannot estimate pass@k advantages: a group must have at least 2 trajectories, got 1 in ${input.groups[rows[0]!]}`,
        );
      }
      const [best, second] = own.map((_, k) => k).sort((a, b) => own[b]! - own[a]!);
      const width = normalizeByDeviation ? deviation(own) + epsilon : 1;
      return own.map((score, k) => (k === best ? (score - own[second!]!) / width : 0));
    }),
  );
}

export const grpoPassAtKEstimator = definePlainEstimator({
  name: "grpo_passk",
  meaning: "the prompt's best trajectory against the second best",
  formula: "best score of the group - second best, for the best; 0 for the others",
  verl: true,
  advantages: grpoPassAtK,
  estimate: (input, { normalizeByDeviation }) => grpoPassAtK(input, { normalizeByDeviation }),
});

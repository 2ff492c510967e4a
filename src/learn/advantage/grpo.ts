import { checkArguments } from "../../arguments/check-arguments.js";
import {
  type Advantages,
  type Outcome,
  byGroup,
  deviation,
  mean,
  outcome,
  scores,
  spread,
} from "./estimator.js";

/**
 * GRPO: each row's score against its group's mean, over the group's deviation + epsilon, on every token
 * of the row. A group of one keeps its score. Without `normalizeByDeviation` it is Dr. GRPO's.
 *
 * The reference forms the group's statistics in float32; here they are doubles.
 */
export function grpo(
  input: Outcome,
  { epsilon = 1e-6, normalizeByDeviation = true } = {},
): Advantages {
  checkArguments(
    "estimate advantages",
    { input },
    { input: { rewards: "list", mask: "list", groups: "list" } },
  );
  const { rewards, mask, groups } = input;
  const score = scores(rewards);
  const advantage = [...score];
  for (const rows of byGroup(groups)) {
    const own = rows.map((i) => score[i]!);
    const [centre, width] = rows.length === 1 ? [0, 1] : [mean(own), deviation(own)];
    for (const i of rows) {
      advantage[i] = (score[i]! - centre) / (normalizeByDeviation ? width + epsilon : 1);
    }
  }
  return outcome(spread(advantage, mask));
}

import { checkArguments } from "../../arguments/check-arguments.js";
import {
  type Advantages,
  type Outcome,
  byGroup,
  deviation,
  outcome,
  scores,
  spread,
} from "./estimator.js";

/** GRPO for pass@k: only a group's best row learns, by how much it beats the second best. */
export function grpoPassAtK(
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
  const advantage = score.map(() => 0);
  for (const rows of byGroup(groups)) {
    if (rows.length < 2) {
      throw new RangeError(
        `Cannot estimate pass@k advantages: a group must have at least 2 rows, got 1 in ${groups[rows[0]!]}`,
      );
    }
    const ranked = [...rows].sort((a, b) => score[b]! - score[a]!);
    const [best, second] = ranked as [number, number, ...number[]];
    const width = normalizeByDeviation ? deviation(rows.map((i) => score[i]!)) + epsilon : 1;
    advantage[best] = (score[best]! - score[second]!) / width;
  }
  return outcome(spread(advantage, mask));
}

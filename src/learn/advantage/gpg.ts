import { checkArguments } from "../../arguments/check-arguments.js";
import {
  type Advantages,
  type Outcome,
  byGroup,
  mean,
  outcome,
  scores,
  spread,
} from "./estimator.js";

/**
 * GPG: each row's score less its group's mean, times the number of rows for each row that has a score
 * at all. A group of one keeps its score.
 */
export function gpg(input: Outcome): Advantages {
  checkArguments(
    "estimate advantages",
    { input },
    { input: { rewards: "list", mask: "list", groups: "list" } },
  );
  const { rewards, mask, groups } = input;
  const score = scores(rewards);
  const scale = score.length / Math.max(1, score.filter((s) => s !== 0).length);
  const advantage = [...score];
  for (const rows of byGroup(groups)) {
    const centre = rows.length === 1 ? 0 : mean(rows.map((i) => score[i]!));
    for (const i of rows) advantage[i] = scale * (score[i]! - centre);
  }
  return outcome(spread(advantage, mask));
}

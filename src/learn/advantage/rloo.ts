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

/** RLOO: each row's score against the mean of the others in its group. */
export function rloo(input: Outcome): Advantages {
  checkArguments(
    "estimate advantages",
    { input },
    { input: { rewards: "list", mask: "list", groups: "list" } },
  );
  const { rewards, mask, groups } = input;
  const score = scores(rewards);
  const advantage = [...score];
  for (const rows of byGroup(groups)) {
    const k = rows.length;
    if (k === 1) continue;
    const centre = mean(rows.map((i) => score[i]!));
    for (const i of rows) advantage[i] = (score[i]! * k) / (k - 1) - (centre * k) / (k - 1);
  }
  return outcome(spread(advantage, mask));
}

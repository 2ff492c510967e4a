import { checkArguments } from "../../arguments/check-arguments.js";
import { type Advantages, type Outcome, byGroup, outcome, scores, spread } from "./estimator.js";

/**
 * OPO: each row's score against its group's mean weighted by length, which lowers the variance most
 * when long answers carry more gradient.
 */
export function opo(input: Outcome): Advantages {
  checkArguments(
    "estimate advantages",
    { input },
    { input: { rewards: "list", mask: "list", groups: "list" } },
  );
  const { rewards, mask, groups } = input;
  const score = scores(rewards);
  const length = scores(mask);
  const advantage = [...score];
  for (const rows of byGroup(groups)) {
    if (rows.length === 1) continue;
    const weighted = rows.reduce((sum, i) => sum + length[i]! * score[i]!, 0);
    const baseline = weighted / rows.reduce((sum, i) => sum + length[i]!, 0);
    for (const i of rows) advantage[i] = score[i]! - baseline;
  }
  return outcome(spread(advantage, mask));
}

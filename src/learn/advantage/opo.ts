import { checkArguments } from "../../arguments/check-arguments.js";
import { type Advantages, type Outcome, byGroup, outcome, scores, spread } from "./estimator.js";

/**
 * OPO: each row's score against its group's mean weighted by length, which lowers the variance most
 * when long answers carry more gradient.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { opo } from "arpo-lab/learn";
 *
 * const batch = { rewards: [[0, 0, 1], [0, 0, 0]], mask: [[1, 1, 1], [1, 0, 0]], groups: [0, 0] };
 * assert.equal(opo(batch).advantages[0][0], 0.25);
 * ```
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

import { checkArguments } from "../../../../common/options/check-arguments.js";
import { byGroup, type Outcome, scores, spread } from "./estimator.js";

/** Every row's number by its group's scores; `rows` are their places in the batch. */
export function inGroups(
  input: Outcome,
  compare: (scores: number[], rows: readonly number[]) => readonly number[],
): Float64Array[] {
  checkArguments(
    "estimate advantages",
    { input },
    { input: { rewards: "list", mask: "list", groups: "list" } },
  );
  const { rewards, mask, groups } = input;
  const score = scores(rewards);
  const advantage = [...score];
  for (const rows of byGroup(groups)) {
    const compared = compare(
      rows.map((i) => score[i]!),
      rows,
    );
    rows.forEach((i, k) => (advantage[i] = compared[k]!));
  }
  return spread(advantage, mask);
}

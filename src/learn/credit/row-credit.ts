import { type Outcome, scores } from "../advantage/estimator.js";
import { Credit, type CreditSum, wholeRow } from "./credit.js";
import { overWidth, perGroup, sampleNorm } from "./group-norm.js";

/** One sum per row, from the row's score and its group's scores. */
function perRow(
  { rewards, mask, groups }: Outcome,
  sumOf: (score: number, group: readonly number[]) => CreditSum,
): Credit {
  const score = scores(rewards);
  const pools = perGroup(groups, score);
  return new Credit(
    score.map((own, row) => wholeRow(mask, row, sumOf(own, pools.get(groups[row]!)!))),
    mask,
  );
}

/** GRPO's advantages with their sums. */
export function grpoCredit(
  input: Outcome,
  { epsilon = 1e-6, normalizeByDeviation = true } = {},
): Credit {
  return perRow(input, (own, group) => {
    const { centre, width } = sampleNorm(group);
    return {
      terms: [
        { name: "reward", value: own },
        { name: "mean of the prompt's rows", value: -centre },
      ],
      factors: normalizeByDeviation ? [overWidth("their deviation", width + epsilon)] : [],
    };
  });
}

/** RLOO's advantages with their sums. */
export function rlooCredit(input: Outcome): Credit {
  return perRow(input, (own, group) => {
    const n = group.length;
    if (n === 1) return { terms: [{ name: "reward", value: own }], factors: [] };
    return {
      terms: [
        { name: "reward", value: own },
        { name: "mean of the prompt's rows", value: -sampleNorm(group).centre },
      ],
      factors: [{ name: "n / (n - 1)", value: n / (n - 1), from: `${n} / ${n - 1}` }],
    };
  });
}

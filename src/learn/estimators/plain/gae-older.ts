import { checkArguments } from "../../../../common/options/check-arguments.js";
import type { Advantages } from "../base/estimator.js";
import { type Rows, whiten } from "../../masked.js";
import { definePlainEstimator } from "../definition.js";

/**
 * GAE as it was before verl 0.9.1: the recursion runs over all tokens, so that a tool's result is credited
 * and discounted as if the model had written it.
 * @param input the reward, value and mask of every token
 */
export function gaeOlder(
  input: { rewards: Rows; values: Rows; mask: Rows },
  { gamma = 1, lambda = 1 } = {},
): Advantages {
  checkArguments(
    "estimate advantages",
    { input },
    { input: { rewards: "list", values: "list", mask: "list" } },
  );
  const { rewards, values, mask } = input;
  const raw = rewards.map((row, i) => {
    const value = values[i]!;
    const advantage = new Float64Array(row.length);
    let next = 0;
    for (let t = row.length - 1; t >= 0; t--) {
      const delta = row[t]! + gamma * (value[t + 1] ?? 0) - value[t]!;
      next = delta + gamma * lambda * next;
      advantage[t] = next;
    }
    return advantage;
  });
  return {
    advantages: whiten(raw, mask),
    returns: raw.map((row, i) => row.map((a, t) => a + values[i]![t]!)),
  };
}

export const gaeOlderEstimator = definePlainEstimator({
  name: "gae_older",
  meaning: "how much better it went on than the critic expected, tool results counted",
  formula: "as verl before 0.9.1: tool results are steps too; needs a critic",
  needs: "values",
  alone: true,
  countsMasked: true,
  advantages: gaeOlder,
  estimate: ({ rewards, mask, values }, { gamma, lambda }) =>
    gaeOlder({ rewards, mask, values: values! }, { gamma, lambda }),
});

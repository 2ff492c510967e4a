import { checkArguments } from "../../../../common/options/check-arguments.js";
import type { Advantages, Outcome } from "../base/estimator.js";
import { masked, whiten } from "../../masked.js";
import { definePlainEstimator } from "../definition.js";

/**
 * REINFORCE++ as it was before verl 0.9.1: returns start anew behind every masked token, so that tokens
 * before a trajectory's last call get no reward.
 * @param input the reward and mask of every token, and the group of every trajectory
 */
export function reinforcePlusPlusOlder(input: Outcome, { gamma = 1 } = {}): Advantages {
  checkArguments("estimate advantages", { input }, { input: { rewards: "list", mask: "list" } });
  const { rewards, mask } = input;
  const returns = rewards.map((row, i) => {
    const out = new Float64Array(row.length);
    let running = 0;
    for (let t = row.length - 1; t >= 0; t--) {
      running = row[t]! + gamma * running;
      out[t] = running;
      running *= mask[i]![t]!;
    }
    return out;
  });
  const advantages = masked(whiten(returns, mask), mask);
  return { advantages, returns };
}

export const reinforcePlusPlusOlderEstimator = definePlainEstimator({
  name: "reinforce_plus_plus_older",
  meaning: "the discounted reward still to come before the next tool result",
  formula: "as verl before 0.9.1: returns restart after every tool result",
  alone: true,
  byToken: true,
  advantages: reinforcePlusPlusOlder,
  estimate: (input, { gamma }) => reinforcePlusPlusOlder(input, { gamma }),
});

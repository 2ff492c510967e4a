import { checkArguments } from "../../../../common/options/check-arguments.js";
import type { Advantages, Outcome } from "../base/estimator.js";
import { masked, whiten } from "../../masked.js";
import { definePlainEstimator } from "../definition.js";

/**
 * REINFORCE++: the discounted rewards still to come, whitened over the batch. Tokens outside the mask,
 * a tool's answer, are passed over: what comes behind them counts for what stands before.
 * @param input the reward and mask of every token, and the group of every trajectory
 */
export function reinforcePlusPlus(input: Outcome, { gamma = 1 } = {}): Advantages {
  checkArguments("estimate advantages", { input }, { input: { rewards: "list", mask: "list" } });
  const { rewards, mask } = input;
  const returns = rewards.map((row, i) => {
    const out = new Float64Array(row.length);
    let running = 0;
    for (let t = row.length - 1; t >= 0; t--) {
      const m = mask[i]![t]!;
      const next = row[t]! + gamma * running;
      out[t] = next * m;
      running = next * m + running * (1 - m);
    }
    return out;
  });
  return { advantages: masked(whiten(returns, mask), mask), returns };
}

export const reinforcePlusPlusEstimator = definePlainEstimator({
  name: "reinforce_plus_plus",
  meaning: "the discounted reward still to come",
  formula: "discounted return, whitened over the batch; passes over tool results",
  alone: true,
  byToken: true,
  verl: true,
  advantages: reinforcePlusPlus,
  estimate: (input, { gamma }) => reinforcePlusPlus(input, { gamma }),
});

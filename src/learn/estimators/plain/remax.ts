import { checkArguments } from "../../../../common/options/check-arguments.js";
import type { Advantages } from "../base/estimator.js";
import type { Rows } from "../../masked.js";
import { definePlainEstimator } from "../definition.js";

/**
 * ReMax: the reward still to come at each token, less the reward of the greedy answer.
 * @param input the reward and mask of every token, and the greedy answer's reward of every trajectory
 */
export function remax(input: {
  rewards: Rows;
  mask: Rows;
  /** The greedy answer's reward, per trajectory. */
  baselines: readonly number[];
}): Advantages {
  checkArguments(
    "estimate advantages",
    { input },
    { input: { rewards: "list", mask: "list", baselines: "list" } },
  );
  const { rewards, mask, baselines } = input;
  const returns = rewards.map((row, i) => {
    const out = new Float64Array(row.length);
    let running = 0;
    for (let t = row.length - 1; t >= 0; t--) {
      running += row[t]! * mask[i]![t]!;
      out[t] = running;
    }
    return out;
  });
  return {
    advantages: returns.map((row, i) => row.map((r, t) => r - baselines[i]! * mask[i]![t]!)),
    returns,
  };
}

export const remaxEstimator = definePlainEstimator({
  name: "remax",
  meaning: "the reward still to come against the greedy answer's",
  formula: "return - score of the greedy answer",
  needs: "baselines",
  alone: true,
  byToken: true,
  verl: true,
  advantages: remax,
  estimate: ({ rewards, mask, baselines }) => remax({ rewards, mask, baselines: baselines! }),
});

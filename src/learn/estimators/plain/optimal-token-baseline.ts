import { checkArguments } from "../../../../common/options/check-arguments.js";
import type { Rows } from "../../masked.js";
import { type Advantages, byGroup, type Outcome } from "../base/estimator.js";
import { definePlainEstimator, type Distributions } from "../definition.js";

export interface OptimalTokenBaselineOptions {
  /**
   * What tokens of two trajectories are compared: those at one place of the response (`column`), or with as many
   * tokens of the model before them (`tokens`), so that a tool's result moves none against another.
   */
  align?: "column" | "tokens";
  /** Compare the tokens of the longest trajectory with nothing where no other is as long. Default: true. */
  zeroTail?: boolean;
}

/** The reward still to come at each token. */
function returnsOf(rewards: Rows, mask: Rows): Float64Array[] {
  return rewards.map((row, i) => {
    const out = new Float64Array(row.length);
    let running = 0;
    for (let t = row.length - 1; t >= 0; t--) {
      running += row[t]! * mask[i]![t]!;
      out[t] = running;
    }
    return out;
  });
}

/** How much a trajectory's gradient has varied up to each token: the sum of 1 - 2 p + sum of p². */
function energyOf(mask: Rows, { logprobs, squares, weights }: Distributions): Float64Array[] {
  return mask.map((own, i) => {
    const out = new Float64Array(own.length);
    let running = 0;
    for (let t = 0; t < own.length; t++) {
      const here = 1 - 2 * Math.exp(logprobs[i]![t]!) + squares[i]![t]!;
      if (own[t]) running += here * (weights?.[i]![t] ?? 1) ** 2;
      out[t] = running;
    }
    return out;
  });
}

/**
 * The optimal token baseline: at each token the mean of the group's rewards still to come, weighted by how much each
 * trajectory's gradient has varied up to there, which makes the estimate vary least. A group of one has none.
 * @param input the reward and mask of every token, the group of every trajectory, and the tokens' distributions
 */
export function optimalTokenBaseline(
  input: Outcome & { distributions: Distributions },
  { align = "tokens", zeroTail = true }: OptimalTokenBaselineOptions = {},
): Advantages {
  checkArguments(
    "estimate advantages",
    { input },
    { input: { rewards: "list", mask: "list", groups: "list", distributions: "object" } },
  );
  const { rewards, mask, groups, distributions } = input;
  const returns = returnsOf(rewards, mask);
  const energy = energyOf(mask, distributions);
  const advantages = mask.map((own) => new Float64Array(own.length));
  /** Where each trained token of a trajectory is compared. */
  const places = mask.map((own) => {
    let before = 0;
    return Array.from(own).flatMap((m, t) =>
      m ? [{ t, at: align === "tokens" ? before++ : t }] : [],
    );
  });
  for (const rows of byGroup(groups)) {
    const over = new Map<number, { value: number; weight: number }>();
    for (const i of rows) {
      for (const { t, at } of places[i]!) {
        const sum = over.get(at) ?? { value: 0, weight: 0 };
        sum.value += returns[i]![t]! * energy[i]![t]!;
        sum.weight += energy[i]![t]!;
        over.set(at, sum);
      }
    }
    const [longest = 0, next = 0] = rows.map((i) => places[i]!.length).sort((a, b) => b - a);
    for (const i of rows) {
      const end = zeroTail && longest > next && places[i]!.length === longest ? next : Infinity;
      for (const { t, at } of places[i]!) {
        const { value, weight } = over.get(at)!;
        const baseline = rows.length === 1 || at >= end ? 0 : value / (weight + 1e-8);
        advantages[i]![t] = returns[i]![t]! - baseline;
      }
    }
  }
  return { advantages, returns };
}

type Given = Parameters<typeof optimalTokenBaseline>[0];
const formula = "return - group's returns, weighted by how much their gradients have varied";

/** By column, as verl: a tool's result in one trajectory compares what does not belong together. */
export const optimalTokenBaselineEstimator = definePlainEstimator({
  name: "optimal_token_baseline",
  meaning: "the reward still to come against that of the prompt's trajectories at the same place",
  formula: `${formula}, place by place: wrong where tools answer`,
  needs: "distributions",
  byToken: true,
  verl: true,
  advantages: (input: Given, { zeroTail = true }: { zeroTail?: boolean } = {}) =>
    optimalTokenBaseline(input, { align: "column", zeroTail }),
  estimate: ({ distributions, ...input }) =>
    optimalTokenBaseline({ ...input, distributions: distributions! }, { align: "column" }),
});

export const tirOptimalTokenBaselineEstimator = definePlainEstimator({
  name: "tir_optimal_token_baseline",
  meaning:
    "the reward still to come against that of the prompt's trajectories after as many tokens",
  formula: `${formula}, after as many tokens of the model`,
  needs: "distributions",
  byToken: true,
  verl: true,
  advantages: (input: Given, { zeroTail = true }: { zeroTail?: boolean } = {}) =>
    optimalTokenBaseline(input, { zeroTail }),
  estimate: ({ distributions, ...input }) =>
    optimalTokenBaseline({ ...input, distributions: distributions! }),
});

import { checkArguments } from "../../../../common/options/check-arguments.js";
import type { Advantages, Outcome } from "./estimator.js";
import { masked, type Rows, whiten } from "../../masked.js";

/**
 * Generalised advantage estimation with a critic's values:
 * delta(t) = r(t) + gamma V(t+1) - V(t), A(t) = delta(t) + gamma lambda A(t+1).
 * Returns are A + V; the advantages are whitened over the mask afterwards. As in the reference, the
 * recursion itself runs over all tokens, masked or not.
 * @param input the reward, value and mask of every token
 */
export function gae(
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

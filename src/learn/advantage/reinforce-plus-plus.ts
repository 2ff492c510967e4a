import { checkArguments } from "../../arguments/check-arguments.js";
import {
  type Advantages,
  type Outcome,
  byGroup,
  mean,
  outcome,
  scores,
  spread,
} from "./estimator.js";
import { whiten } from "./masked.js";

function masked(values: Float64Array[], mask: Outcome["mask"]): Float64Array[] {
  return values.map((row, i) => row.map((v, t) => v * mask[i]![t]!));
}

/**
 * REINFORCE++: the discounted rewards still to come, whitened over the batch. Tokens outside the mask,
 * a tool's answer, are passed over: what comes behind them counts for what stands before.
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
 * before a row's last call get no reward.
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

/** REINFORCE++-baseline: scores less their group's mean, whitened over the batch. */
export function reinforcePlusPlusBaseline(input: Outcome): Advantages {
  checkArguments(
    "estimate advantages",
    { input },
    { input: { rewards: "list", mask: "list", groups: "list" } },
  );
  const { rewards, mask, groups } = input;
  const score = scores(rewards);
  const centred = [...score];
  for (const rows of byGroup(groups)) {
    if (rows.length === 1) continue;
    const centre = mean(rows.map((i) => score[i]!));
    for (const i of rows) centred[i] = score[i]! - centre;
  }
  return outcome(masked(whiten(spread(centred, mask), mask), mask));
}

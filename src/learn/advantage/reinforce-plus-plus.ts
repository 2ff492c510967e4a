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
 * REINFORCE++: discounted returns that start anew behind every masked token, whitened over the batch.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { reinforcePlusPlus } from "arpo-lab/learn";
 *
 * const batch = { rewards: [[0, 1], [0, 0]], mask: [[1, 1], [1, 1]], groups: [0, 0] };
 * assert.deepEqual([...reinforcePlusPlus(batch, { gamma: 0.5 }).returns[0]], [0.5, 1]);
 * ```
 */
export function reinforcePlusPlus(input: Outcome, { gamma = 1 } = {}): Advantages {
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
  return { advantages: masked(whiten(returns, mask), mask), returns };
}

/**
 * REINFORCE++-baseline: scores less their group's mean, whitened over the batch.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { reinforcePlusPlusBaseline } from "arpo-lab/learn";
 *
 * const batch = { rewards: [[1], [0]], mask: [[1], [1]], groups: ["q", "q"] };
 * assert.ok(reinforcePlusPlusBaseline(batch).advantages[0][0] > 0);
 * ```
 */
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

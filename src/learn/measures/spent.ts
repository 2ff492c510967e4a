import type { RolloutTreeData } from "../../rollout/tree/tree-data.js";

/** What rollouts cost, in what budgets count. */
export interface Cost {
  /** Tokens that the policy drew. */
  tokens: number;
  /** Tool calls that were made. */
  calls: number;
  trajectories: number;
}

type Spending = Pick<RolloutTreeData, "nodes" | "trajectories" | "monitor">;

/**
 * What trees cost: what their trajectories share counts once, what a fork copied from another tree (its
 * nodes of trajectory -1) not at all, AEPO's probes as what they drew.
 */
export function spentOn(trees: Iterable<Spending>): Cost {
  const cost: Cost = { tokens: 0, calls: 0, trajectories: 0 };
  for (const { nodes, trajectories, monitor } of trees) {
    cost.trajectories += trajectories.length;
    cost.tokens += monitor?.spent?.tokens ?? 0;
    cost.calls += monitor?.spent?.calls ?? 0;
    for (const { kind, tokens, trajectory, tool } of nodes) {
      if (trajectory < 0) continue;
      if (kind === "model") cost.tokens += tokens.length;
      else if (tool) cost.calls++;
    }
  }
  return cost;
}

/** Both together. */
export function addCost(a: Cost, b: Cost): Cost {
  return {
    tokens: a.tokens + b.tokens,
    calls: a.calls + b.calls,
    trajectories: a.trajectories + b.trajectories,
  };
}

/** Of a run that has not begun. */
export const noCost: Cost = { tokens: 0, calls: 0, trajectories: 0 };

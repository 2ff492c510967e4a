import { defined } from "../../arguments/defined.js";
import { callConcentration } from "../../rollout/entropy/call-concentration.js";
import { entropyRise } from "../../rollout/entropy/entropy-rise.js";
import { decidedByEntropy } from "../../rollout/replay/decided-by-entropy.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";

/**
 * Whether the policy is less sure at tool calls than elsewhere, and how many branch decisions that changed; only what
 * the trees can tell.
 */
export function entropyMetrics(trees: readonly RolloutTree[]): Record<string, number> {
  const { againstRest } = entropyRise(trees, { draws: 0 });
  const { concentration } = callConcentration(trees, { draws: 0 });
  return defined({
    "tree/entropy_rise": againstRest.value,
    "tree/entropy_at_calls": concentration.value,
    "branch/decided_by_entropy": decidedByEntropy(trees),
  });
}

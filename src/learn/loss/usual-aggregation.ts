import type { LossAggregation } from "./aggregate.js";
import type { RatioKind } from "./token-ratio.js";

/** How token losses are aggregated where nobody says: GSPO counts every row the same, PPO every token. */
export function usualAggregation(kind: RatioKind = "ppo"): LossAggregation {
  return kind === "gspo" ? "seq-mean-token-mean" : "token-mean";
}

import type { ExpansionSettings } from "../branch/family/settings.js";
import type { PlannedChain } from "../expand/plan-chains.js";
import type { RandomState } from "../../random/random.js";

/** All that replaying a rule that looks at written chains needs, as plain data. */
export interface ExpansionPlan {
  settings: ExpansionSettings;
  /** Trajectories per prompt. */
  n: number;
  chains: PlannedChain[];
  /** The tree's own stream. */
  random: RandomState;
  /** FR3E: the trajectories that are explored. Default: every first one. */
  bases?: number[];
}

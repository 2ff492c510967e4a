import type { ReplayChanges } from "../../../rollout/replay/follow-plan.js";
import type { ExpandOptions } from "../../../rollout/branch/family/settings.js";
import type { RolloutRule } from "../../../rollout/options.js";
import type { Quantity } from "./colouring.js";

/** What the reader has chosen. */
export interface Choices {
  quantity: Quantity;
  along: "tokens" | "time";
  /** The rule, and what the reader changed of its settings. */
  rule: RolloutRule;
  changes: Omit<ReplayChanges, "rule">;
  expand: ExpandOptions;
  /** Rows whose paths are shown; -1 for none. */
  follow: number;
  compare: number;
}
